package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/storage"
)

// bareClient posts signed bodies with net/http alone. It shows what a machine can do
// without storage, walks and retries.
type bareClient struct {
	// transports alternate at each URL. Over HTTP/2 each transport is one connection to
	// each destination.
	transports []*http.Transport
}

// newBareClient returns a client with a number of transports. An empty version means
// plain HTTP. Like the product, the client resumes the TLS sessions of closed
// connections.
func newBareClient(version storage.HTTPVersion, transports int) *bareClient {
	c := &bareClient{}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1024)}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(version != storage.HTTPVersion2)
	protocols.SetHTTP2(version == storage.HTTPVersion2)
	for range transports {
		c.transports = append(c.transports, &http.Transport{
			MaxIdleConnsPerHost: connections, DisableCompression: true, Protocols: protocols, TLSClientConfig: config,
		})
	}
	return c
}

// post posts a body n times to the URLs in rotation, with `connections` requests in
// flight. It begins and ends without an open connection. Its work has a label in
// profiles: go tool pprof -tagignore 'bare client' excludes it.
func (c *bareClient) post(ctx context.Context, urls []string, body []byte, n int) (perSecond float64, err error) {
	pprof.Do(ctx, pprof.Labels("side", "bare client"), func(ctx context.Context) { perSecond, err = c.postAll(ctx, urls, body, n) })
	return perSecond, err
}

func (c *bareClient) postAll(ctx context.Context, urls []string, body []byte, n int) (perSecond float64, err error) {
	defer func() {
		for _, t := range c.transports {
			t.CloseIdleConnections()
		}
	}()
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	started := time.Now()
	for range connections {
		group.Go(func() error {
			mac := hmac.New(sha256.New, make([]byte, 32))
			for {
				i := int(taken.Add(1))
				if i > n {
					return nil
				}
				transport := c.transports[i/len(urls)%len(c.transports)]
				if err := post(ctx, transport, urls[i%len(urls)], body, "msg_"+strconv.Itoa(i), mac); err != nil {
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

// hasher is the part of a MAC that the bare client uses.
type hasher interface {
	io.Writer
	Sum(b []byte) []byte
	Reset()
}

func post(ctx context.Context, transport *http.Transport, url string, body []byte, id string, mac hasher) (err error) {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac.Reset()
	_, _ = io.WriteString(mac, id+"."+timestamp+".") // a hash returns no error
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
		return fmt.Errorf("the receiver responded %s", response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
