package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// The headers of a request.
const (
	keyHeader          = "x-ws-api-key"
	organizationHeader = "x-gridhook-organization"
	idempotencyHeader  = "Idempotency-Key"
	requestIDHeader    = "X-Request-Id"

	jsonType   = "application/json"
	ndjsonType = "application/x-ndjson"
)

// maxAnswer bounds what is read of an answer: a month of price signals or a page
// of deliveries is well below.
const maxAnswer = 32 << 20

// defaultHTTP waits a little longer than a server takes to give up.
var defaultHTTP = &http.Client{Timeout: 35 * time.Second}

// Client calls one server. Its fields must not change while it is in use; it is
// safe for concurrent use then.
type Client struct {
	// BaseURL is the server's address, such as https://gridhook.example.com.
	BaseURL string
	// Key is an API key, or on the admin address the operator's.
	Key string
	// Organization is whom to act for: with the operator's key it is needed in
	// every operation of partners, with an API key it is by default the key's
	// own and may be a child organization of a channel partner.
	Organization string
	// HTTP sends the requests; nil for a client with a time-out of 35 s.
	HTTP *http.Client
}

// For is the same client acting for an organization.
func (c *Client) For(organization string) *Client {
	other := *c
	other.Organization = organization
	return &other
}

// header is an additional header of one request.
type header struct{ name, value string }

// once is the header that makes a repeat return the first answer; none for an
// empty key.
func once(idempotencyKey string) []header {
	if idempotencyKey == "" {
		return nil
	}
	return []header{{idempotencyHeader, idempotencyKey}}
}

// call sends in as JSON and reads the answer. Errors: *Error when the server
// refused, and otherwise what net/http returned.
func call[Out any](ctx context.Context, c *Client, path string, in any, more ...header) (out Out, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("encode the request: %w", err)
	}
	return send[Out](ctx, c, path, jsonType, bytes.NewReader(body), more...)
}

func (c *Client) request(ctx context.Context, path, contentType string, body io.Reader, more ...header) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set(keyHeader, c.Key)
	if c.Organization != "" {
		request.Header.Set(organizationHeader, c.Organization)
	}
	for _, h := range more {
		request.Header.Set(h.name, h.value)
	}
	return request, nil
}

func (c *Client) sender() *http.Client {
	if c.HTTP == nil {
		return defaultHTTP
	}
	return c.HTTP
}

// send sends a body as it is.
func send[Out any](ctx context.Context, c *Client, path, contentType string, body io.Reader, more ...header) (out Out, err error) {
	request, err := c.request(ctx, path, contentType, body, more...)
	if err != nil {
		return out, err
	}
	response, err := c.sender().Do(request)
	if err != nil {
		return out, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end or is of no use
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return out, fmt.Errorf("read the answer of %s: %w", path, err)
	case len(answer) > maxAnswer:
		return out, errors.New("the answer of " + path + " is too large")
	case response.StatusCode != http.StatusOK:
		return out, refusal(response, answer)
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return out, nil
}
