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

// These limits apply to the response to a forwarded delivery.
const (
	forwardTimeout = 30 * time.Second
	maxAnswer      = 64 << 10 // bytes
)

// forwarder forwards deliveries unchanged, including the signature.
type forwarder struct {
	to     *url.URL
	client *http.Client
}

func newForwarder(to *url.URL) *forwarder {
	return &forwarder{to: to, client: &http.Client{
		Timeout: forwardTimeout,
		// Gridhook does not follow redirects either, so the redirect must stay visible.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is the response to a delivery.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// pass forwards a delivery and returns the response. If the target is unreachable, the
// response is a bad gateway.
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

// endToEnd returns the headers except hop-by-hop headers.
func endToEnd(header http.Header) http.Header {
	out := header.Clone()
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length"} {
		out.Del(name)
	}
	return out
}
