package client

import (
	"context"
	"io"

	"github.com/gridhook/gridhook/storage"
)

// MaxImport is the largest import that a server takes at once, in bytes.
const MaxImport = 16 << 20

// Imported is what became of the lines of an import.
type Imported struct {
	Lines     int           `json:"lines"`
	Created   int           `json:"created"`
	Updated   int           `json:"updated"`
	Unchanged int           `json:"unchanged"`
	Failed    int           `json:"failed"`
	Errors    []ImportError `json:"errors"`
	// Secrets were made for new endpoints that brought none. They are there
	// once.
	Secrets []ImportedSecret `json:"secrets"`
}

// ImportedSecret is the secret that was made for an endpoint.
type ImportedSecret struct {
	Line   int    `json:"line"`
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// ImportError is a line that was left out, and why.
type ImportError struct {
	// Line is its number, from 1.
	Line     int                  `json:"line"`
	Resource string               `json:"resource"`
	ID       string               `json:"id"`
	Fields   []storage.FieldError `json:"fields"`
}

// Import creates or replaces many things at once: NDJSON, one resource a line, at
// most MaxImport bytes. Lines that are wrong are reported and the others kept;
// importing the same again changes nothing. Operator only.
func (c *Client) Import(ctx context.Context, ndjson io.Reader) (Imported, error) {
	return send[Imported](ctx, c, "/v1/admin/import", ndjsonType, ndjson)
}
