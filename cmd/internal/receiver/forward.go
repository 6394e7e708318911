package receiver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Limits on what a delivery that is passed on is answered.
const (
	forwardTimeout = 30 * time.Second
	maxAnswer      = 64 << 10 // bytes
)

// forwarder passes deliveries on as they came, signature and all.
type forwarder struct {
	to     *url.URL
	client *http.Client
}

func newForwarder(to *url.URL) *forwarder {
	return &forwarder{to: to, client: &http.Client{
		Timeout: forwardTimeout,
		// Gridhook follows no redirect either: whoever tries must see it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what a delivery is answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// pass sends a delivery on and returns what it was answered; what cannot be
// reached is a bad gateway.
func (f *forwarder) pass(ctx context.Context, header http.Header, body []byte) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to.String(), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header = endToEnd(header)
	response, err := f.client.Do(request)
	if err != nil {
		return answer{status: http.StatusBadGateway}, fmt.Errorf("not passed on: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer{status: http.StatusBadGateway}, fmt.Errorf("the answer broke off: %w", err)
	}
	return answer{response.StatusCode, endToEnd(response.Header), text}, nil
}

// endToEnd are the headers that are not of one connection alone.
func endToEnd(header http.Header) http.Header {
	out := header.Clone()
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length"} {
		out.Del(name)
	}
	return out
}
