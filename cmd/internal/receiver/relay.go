package receiver

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/gridhook/gridhook/events"
)

// maxRelayed is the maximum number of body bytes of a response to a relayed request.
const maxRelayed = 64 << 10

// Relayed handles a relayed request like a request by HTTP. responds is false if a
// simulated fault omits the response.
func (r *Receiver) Relayed(ctx context.Context, relayed *events.RelayRequest) (response events.RelayResponse, responds bool, err error) {
	body, err := base64.StdEncoding.DecodeString(relayed.Body)
	if err != nil {
		return response, false, fmt.Errorf("the body of the request is not base64: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		return response, false, err
	}
	for name, value := range relayed.Headers {
		request.Header.Set(name, value)
	}
	w := &recorder{header: http.Header{}}
	r.ServeHTTP(w, request)
	const longest = 64
	retryAfter := w.header.Get("Retry-After")
	return events.RelayResponse{
		ID: relayed.ID, Status: w.status, RetryAfter: retryAfter[:min(longest, len(retryAfter))], Body: w.body.String(),
	}, w.status != 0, nil
}

// recorder records a response.
type recorder struct {
	header http.Header
	status int // 0 before the response
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. It ignores informational responses.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter. It drops bytes beyond maxRelayed.
func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body.Write(b[:min(len(b), maxRelayed-w.body.Len())])
	return len(b), nil
}
