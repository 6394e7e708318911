package api

import (
	"bytes"
	"context"

	"github.com/gridhook/gridhook/api/importer"
	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// importInput is empty because the importer decodes the lines one by one.
type importInput struct{}

func (importInput) check(c *rest.Call) {
	lines := bytes.Count(c.Body, []byte("\n"))
	c.Wrong.Check(lines <= importer.MaxLines, "body", "has %d lines, at most %d are allowed", lines, importer.MaxLines)
}

func (s *server) importLines(ctx context.Context, c *rest.Call, _ *importInput) (wire.Imported, error) {
	return s.importBody(ctx, c, c.Body)
}

func (s *server) importBody(ctx context.Context, c *rest.Call, body []byte) (wire.Imported, error) {
	return importer.Import(ctx, importer.Deps{
		Store: s.Store, Decode: s.decode, MaxLine: s.rest.Options.MaxBody, MaxDepth: s.rest.Options.MaxDepth,
		Place: func(v storage.View, h *storage.Home) { place(v, h, "") }, SetEvents: s.setEvents, Configure: s.configure, ConfigureSource: s.setSource, NewSecret: s.newSecret,
		ConfigureChannel: s.setChannel, ConfigureSchedule: applySchedule, SetOpenADR: openadr.NewImporter(s.openADR()).Set,
	}, c, body)
}
