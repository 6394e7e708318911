package openadr

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

// Client calls the OpenADR interface of a server with the token of one API key. The token
// is valid for one hour.
type Client struct {
	// KeyID is the key, and so the client identifier.
	KeyID string

	base, token string
	http        *http.Client
}

// NewClient creates a key with one scope for an organization, and takes a token at a
// server's public address.
func NewClient(ctx context.Context, operator *client.Client, server, org string, scope storage.Scope, sender *http.Client) (*Client, error) {
	key, err := operator.CreateKey(ctx, client.NewKey{OrganizationID: org, Scopes: []storage.Scope{scope}})
	if err != nil {
		return nil, err
	}
	c := &Client{KeyID: key.ID, base: server + "/openadr3/3.1.1/", http: sender}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {key.ID}, "client_secret": {key.Text}}
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	err = c.send(ctx, http.MethodPost, "auth/token", "application/x-www-form-urlencoded", form.Encode(), &grant)
	c.token = grant.AccessToken
	return c, err
}

// Do calls an operation and decodes the response. path is relative to the interface.
// Errors: *client.Error for a refusal, otherwise the error of net/http.
func (c *Client) Do(ctx context.Context, method, path, body string, into any) error {
	return c.send(ctx, method, path, "application/json", body, into)
}

func (c *Client) send(ctx context.Context, method, path, mediaType, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", mediaType)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		after, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 without the header
		return &client.Error{Status: response.StatusCode, RetryAfterSeconds: after, Message: fmt.Sprintf("%s %s: %s %s", method, path, response.Status, text)}
	}
	return json.Unmarshal(text, into)
}
