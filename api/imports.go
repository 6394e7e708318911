package api

import (
	"bytes"
	"context"
	"time"

	"github.com/gridhook/gridhook/api/importer"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// importInput is empty because the importer decodes the lines one by one.
type importInput struct{}

func (importInput) check(_ *server, c *rest.Call, p *rest.FieldErrors) {
	lines := bytes.Count(c.Body, []byte("\n"))
	p.Check(lines <= importer.MaxLines, "body", "has %d lines; at most %d are taken at once", lines, importer.MaxLines)
}

func (s *server) importLines(ctx context.Context, c *rest.Call, _ *importInput) (wire.Imported, error) {
	return importer.Import(ctx, importer.Deps{
		Operations: forLines{s}, Store: s.Store, Vault: s.Vault, Decode: s.decode, MaxLine: s.rest.Options.MaxBody, MaxDepth: s.rest.Options.MaxDepth,
	}, c.Body, c.Now)
}

// forLines provides the operations' functions to the importer.
type forLines struct{ s *server }

var _ importer.Operations = forLines{}

func (f forLines) Placer(v storage.View) (func(*storage.Home), error) {
	places, err := f.s.checker(v, storage.Shared)
	return func(h *storage.Home) { place(h, places) }, err
}

func (forLines) ChooseTariff(in *wire.CatalogChoice, plan *storage.RatePlan, p *rest.FieldErrors) {
	chooseTariff(in, plan, p)
}

func (f forLines) SetEvents(ctx context.Context, plan storage.Ref, events []storage.PlanEvent) ([]storage.Change, error) {
	return f.s.setEvents(ctx, plan, events)
}

func (forLines) NewSettings() wire.EndpointSettings { return newSettings() }

func (f forLines) Configure(in *wire.EndpointSettings, e, before *storage.WebhookEndpoint, p *rest.FieldErrors) error {
	return f.s.configure(in, e, before, p)
}

func (forLines) CheckSecret(p *rest.FieldErrors, secret string) { checkSecret(p, secret) }

func (f forLines) NewSecret(e *storage.WebhookEndpoint, choice wire.SecretChoice, now time.Time) string {
	return f.s.newSecret(e, choice, now)
}
