package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Names of request headers.
const (
	keyHeader          = "x-ws-api-key"
	organizationHeader = "x-gridhook-organization"
	idempotencyHeader  = "Idempotency-Key"
	requestIDHeader    = "X-Request-Id"

	jsonType   = "application/json"
	ndjsonType = "application/x-ndjson"
)

// maxResponse is the maximum size of a response in bytes. A month of price signals and a
// page of deliveries are well below it.
const maxResponse = 32 << 20

// defaultHTTP times out a little later than the longest operations of a server: the test
// of an endpoint and the check of a source. It follows no redirect, because net/http would
// send the key to the new address. No operation redirects.
var defaultHTTP = &http.Client{
	Timeout:       80 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Client calls one server. It is safe for concurrent use as long as its fields do not
// change.
type Client struct {
	// BaseURL is the server's address, such as https://gridhook.example.com.
	BaseURL string
	// Key is an API key. On the admin address, it is the operator's key.
	Key string
	// Organization is the organization to act for. With the operator's key, every
	// operation of partners needs it. With an API key, it defaults to the key's own
	// organization. A channel partner may name a child organization.
	Organization string
	// HTTP sends the requests. If nil, the timeout is 80 s and a redirect is an error. An
	// http.Client without a CheckRedirect sends the key to the address of a redirect.
	HTTP *http.Client
}

// For returns a copy of the client that acts for an organization.
func (c *Client) For(organization string) *Client {
	other := *c
	other.Organization = organization
	return &other
}

// Call calls an operation by its path, such as /v1/webhook/endpoints/list. It sends in as
// JSON and decodes the response. It returns an *Error if the server refused the request,
// otherwise the error of net/http. A repeated request with the same idempotency key gets the
// first response. An empty key is none.
//
// Call is for programs that treat many operations alike. The methods of Client have typed
// requests and more documentation.
func Call[Out any](ctx context.Context, c *Client, path string, in any, idempotencyKey ...string) (out Out, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("encode the request: %w", err)
	}
	return send[Out](ctx, c, path, jsonType, bytes.NewReader(body), idempotencyKey...)
}

func (c *Client) sender() *http.Client { return cmp.Or(c.HTTP, defaultHTTP) }

// send sends a body unchanged and decodes the response.
func send[Out any](ctx context.Context, c *Client, path, contentType string, body io.Reader, idempotencyKey ...string) (out Out, err error) {
	response, err := c.open(ctx, c.sender(), path, contentType, body, idempotencyKey...)
	if err != nil {
		return out, err
	}
	defer response.Close() //nolint:errcheck // it was read to its end or is of no use
	text, err := io.ReadAll(io.LimitReader(response, maxResponse+1))
	if err == nil && len(text) > maxResponse {
		return out, errors.New("the response of " + path + " is too large")
	}
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return out, fmt.Errorf("read the response of %s: %w", path, err)
	}
	return out, nil
}

// stream is send for a response that the caller reads, without a timeout except ctx. The
// caller must close it.
func (c *Client) stream(ctx context.Context, path string, body io.Reader) (io.ReadCloser, error) {
	withoutTimeout := *c.sender()
	withoutTimeout.Timeout = 0
	return c.open(ctx, &withoutTimeout, path, jsonType, body)
}

// open sends a request and returns the body of the response, which the caller must close.
func (c *Client) open(ctx context.Context, by *http.Client, path, contentType string, body io.Reader, idempotencyKey ...string) (io.ReadCloser, error) {
	if base, err := url.Parse(c.BaseURL); err != nil || base.Host == "" {
		return nil, fmt.Errorf("BaseURL must be a URL such as https://gridhook.example.com, not %q", c.BaseURL)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set(keyHeader, c.Key)
	if c.Organization != "" {
		request.Header.Set(organizationHeader, c.Organization)
	}
	if key := cmp.Or(idempotencyKey...); key != "" {
		request.Header.Set(idempotencyHeader, key)
	}
	response, err := by.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, fmt.Errorf("read the response of %s: %w", path, err)
	}
	return nil, serverError(response, text)
}
