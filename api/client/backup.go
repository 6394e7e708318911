package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Backup reads a backup of everything, encrypted for the holders of the private halves of
// some keys. It takes as long as it takes: ctx alone bounds it. One that the server cannot
// finish ends with an error, not with io.EOF. The caller closes it. Operator only.
func (c *Client) Backup(ctx context.Context, recipients []string) (io.ReadCloser, error) {
	body, err := json.Marshal(map[string][]string{"recipients": recipients})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	request, err := c.request(ctx, "/backup", jsonType, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	unhurried := *c.sender()
	unhurried.Timeout = 0
	response, err := unhurried.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	return nil, refusal(response, answer)
}
