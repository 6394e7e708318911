package api

import (
	"context"
	"net/http"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// Routes returns all operations. The partners' operations come first.
func Routes() []rest.Route { return AudienceOperator.Routes() }

// RequestExamples returns an example of each operation's body, by the operation's name.
func RequestExamples() map[string]string {
	all := map[string]string{"import": importExample, "importGreenButton": greenButtonExample}
	for name, body := range examples() {
		all[name] = string(body)
	}
	return all
}

// Hold takes a slot until done is called.
func (e *Estimates) Hold(ctx context.Context, org string) (done func(), err error) {
	done, _, err = e.turn(ctx, org)
	return done, err
}

// Waiting returns the queued and running estimates of an organization.
func (e *Estimates) Waiting(org string) (n int64) {
	_, _ = e.Entrants.Take(org, 0, func(_, own int64) error { n = own; return nil })
	return n
}

// FillQueue makes an organization reach its limit of queued estimates, with one slot.
func (e *Estimates) FillQueue(org string) {
	_, _ = e.Entrants.Take(org, maxWaiting+1-e.Waiting(org), func(int64, int64) error { return nil })
}

// WhileReading serves the partners' operations while an organization has as many long reads as
// may run at once. They end with ctx.
func WhileReading(ctx context.Context, d Deps, o rest.Options, org string) http.Handler {
	s := newServer(d, o)
	c := &rest.Call{Caller: rest.Caller{Key: &storage.Key{Base: storage.Base{OrganizationID: org}}}}
	running := make(chan struct{})
	for range rest.HalfOfProcessors() {
		go func() { _ = s.rest.InTurn(ctx, c, func() error { running <- struct{}{}; <-ctx.Done(); return nil }) }()
		<-running
	}
	return s.rest.Router(s.rest.Partner, s.routes(AudiencePartner), nil)
}
