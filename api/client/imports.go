package client

import (
	"context"
	"io"

	"github.com/gridhook/gridhook/api/wire"
)

// MaxImport is the maximum size of an import in bytes.
const MaxImport = 16 << 20

// Imported is the outcome of an import.
type Imported = wire.Imported

// ImportedSecret is a secret that the server generated for an endpoint.
type ImportedSecret = wire.ImportedSecret

// ImportError is a rejected line with the reason.
type ImportError = wire.ImportError

// GreenButtonImport is the outcome of a Green Button file.
type GreenButtonImport = wire.GreenButtonImport

// ImportGreenButton stores the measured load of a home of the client's Organization from a
// Green Button file. Operator only.
func (c *Client) ImportGreenButton(ctx context.Context, homeID string, xml io.Reader) (GreenButtonImport, error) {
	return send[GreenButtonImport](ctx, c, at("/v1/admin/homes/{id}/import_green_button", homeID), "application/xml", xml)
}

// Import creates or replaces many resources at once. Operator only. The input is NDJSON,
// one resource a line, at most MaxImport bytes. The server stores the correct lines and
// reports the wrong lines. Importing the same input again changes nothing.
func (c *Client) Import(ctx context.Context, ndjson io.Reader) (Imported, error) {
	return send[Imported](ctx, c, "/v1/admin/import", ndjsonType, ndjson)
}
