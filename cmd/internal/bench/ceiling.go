package bench

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// ceiling posts n signed bodies from a bare net/http client, so many at once, to
// all of the URLs in turn: what a machine can do when nothing is stored, walked or judged.
func ceiling(ctx context.Context, urls []string, body []byte, n, connections int) (perSecond float64, err error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	defer transport.CloseIdleConnections()
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	started := time.Now()
	for range connections {
		group.Go(func() error {
			mac := hmac.New(sha256.New, make([]byte, 32))
			for {
				i := taken.Add(1)
				if i > int64(n) {
					return nil
				}
				if err := post(ctx, transport, urls[int(i)%len(urls)], body, "msg_"+strconv.FormatInt(i, 10), mac); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("the bare client: %w", err)
	}
	return float64(n) / time.Since(started).Seconds(), nil
}

// hasher is the part of a MAC that is used here.
type hasher interface {
	io.Writer
	Sum(b []byte) []byte
	Reset()
}

func post(ctx context.Context, transport *http.Transport, url string, body []byte, id string, mac hasher) (err error) {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac.Reset()
	_, _ = io.WriteString(mac, id+"."+timestamp+".") // a hash takes all
	_, _ = mac.Write(body)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("webhook-id", id)
	request.Header.Set("webhook-timestamp", timestamp)
	request.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the receiver answered %s", response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
