package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
