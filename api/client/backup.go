package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Backup streams a backup of all data, encrypted for the holders of the recipients'
// private keys. Operator only. The download has no timeout except ctx. If the server
// fails midway, reading ends with an error instead of io.EOF. The caller must close the
// stream.
func (c *Client) Backup(ctx context.Context, recipients []string) (io.ReadCloser, error) {
	body, err := json.Marshal(map[string][]string{"recipients": recipients})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return c.stream(ctx, "/backup", bytes.NewReader(body))
}

// stream sends a request without a timeout except ctx, and returns the body of the
// response. The caller must close it.
func (c *Client) stream(ctx context.Context, path string, body io.Reader) (io.ReadCloser, error) {
	request, err := c.request(ctx, path, jsonType, body)
	if err != nil {
		return nil, err
	}
	withoutTimeout := *c.sender()
	withoutTimeout.Timeout = 0
	response, err := withoutTimeout.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	return nil, serverError(response, text)
}
