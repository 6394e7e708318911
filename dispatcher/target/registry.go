package target

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

// Registry holds the targets of a worker. It prepares the target of an endpoint once per
// revision. It prepares the target of a callback for each use, because an organization may
// have a hundred thousand, and keeps the gates of their servers.
type Registry struct {
	vault *vault.Vault
	gate  *gate.Gate
	now   func() time.Time

	mu    sync.Mutex
	ready map[storage.Ref]*Target
	// servers holds the gates of callbacks, by organization and breaker.
	servers map[storage.Ref]*server
}

// server is a receiver of an organization's callbacks.
type server struct {
	gate *gate.Endpoint
	used time.Time
}

// forgetServers is the time after which the gate of an unused server is dropped.
const forgetServers = 10 * time.Minute

// NewRegistry returns an empty registry.
func NewRegistry(v *vault.Vault, g *gate.Gate, now func() time.Time) *Registry {
	return &Registry{vault: v, gate: g, now: now, ready: map[storage.Ref]*Target{}, servers: map[storage.Ref]*server{}}
}

// Broken is an endpoint that cannot be prepared.
type Broken struct {
	ID  string
	Err error
}

// List returns an organization's enabled endpoints that want an event type. It returns
// endpoints that cannot be prepared as broken, so that they do not block the others. A
// suspended organization has no endpoints. Errors: errors of the store.
func (s *Registry) List(v storage.View, org, eventType string) (ready []*Target, broken []Broken, err error) {
	if suspended, err := storage.IsSuspended(v, org); suspended || err != nil {
		return nil, nil, err
	}
	err = v.Scan(storage.KindWebhookEndpoint, org, "", func(r storage.Record) bool {
		if r.Deleted {
			s.drop(r.Ref)
			return true
		}
		t, err := s.prepare(r)
		switch {
		case err != nil:
			broken = append(broken, Broken{r.ID, err})
		case t.Wants(eventType):
			ready = append(ready, t)
		}
		return true
	})
	return ready, broken, err
}

// Get returns one endpoint. If its organization is suspended, the endpoint is not
// enabled. Errors: storage.ErrNotFound, ErrBroken, errors of the store.
func (s *Registry) Get(v storage.View, org, id string) (*Target, error) {
	r, err := storage.FindEndpoint(v, org, id)
	if err != nil {
		return nil, err
	}
	if r.Deleted {
		s.drop(r.Ref)
		return nil, storage.ErrNotFound
	}
	t, err := s.prepare(r)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Join(ErrBroken, err)
	}
	suspended, err := storage.IsSuspended(v, org)
	if suspended {
		paused := *t
		paused.Enabled = false
		t = &paused
	}
	return t, err
}

// ErrBroken says that an endpoint cannot be prepared for sending.
var ErrBroken = errors.New("the endpoint's record cannot be used")

// Sweep drops endpoints that are missing from a view, with their secrets, and unused gates of
// servers. It prepares changed endpoints again, and ends the waits for the rate limits of
// endpoints that receive nothing any more: requests that wait may be all that an endpoint has.
func (s *Registry) Sweep(v storage.View) error {
	s.mu.Lock()
	had := maps.Clone(s.ready)
	s.mu.Unlock()
	for ref, t := range had {
		now, err := s.Get(v, ref.Org, ref.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			s.drop(ref)
		case errors.Is(err, ErrBroken): // List and Get return the error
		case err != nil:
			return err
		case !now.Enabled:
			t.Gate.Interrupt()
		}
	}
	s.dropServers()
	return nil
}

// dropServers drops the gates that no callback has used lately. It keeps a server that has
// asked to wait.
func (s *Registry) dropServers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.servers, func(_ storage.Ref, r *server) bool {
		return now.Sub(r.used) >= forgetServers && r.gate.OpenUntil(now).IsZero()
	})
}

func (s *Registry) drop(ref storage.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.ready[ref]; t != nil {
		t.Gate.Interrupt()
		delete(s.ready, ref)
	}
}

// gates iterates over the gates of endpoints, and then over the gates of servers. Each has
// the reference of its breaker. The caller holds mu.
func (s *Registry) gates(yield func(storage.Ref, *gate.Endpoint) bool) {
	for ref, t := range s.ready {
		if !yield(ref, t.Gate) {
			return
		}
	}
	for ref, r := range s.servers {
		if !yield(ref, r.gate) {
			return
		}
	}
}

// Down counts the endpoints, and the servers of callbacks, that are down.
func (s *Registry) Down(now time.Time) (down int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.gates {
		if g.Down(now) {
			down++
		}
	}
	return down
}

// maxReported limits the breakers in a report, so that the report fits into a message.
// Each has some 150 bytes.
const maxReported = 4096

// OpenBreakers lists the breakers that are not closed. Endpoints come first.
func (s *Registry) OpenBreakers() (list []events.OpenBreaker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref, g := range s.gates {
		if since, probeAt, open := g.Standing(); open && len(list) < maxReported {
			list = append(list, events.OpenBreaker{
				OrganizationID: ref.Org, EndpointID: ref.ID, Since: storage.Time{Time: since.UTC()}, ProbeAt: storage.Time{Time: probeAt.UTC()},
			})
		}
	}
	return list
}

// prepare returns the target of a record. The gate's state of an endpoint survives across
// revisions.
func (s *Registry) prepare(r storage.Record) (*Target, error) {
	if r.Kind == storage.KindOpenADRSubscription {
		stored, err := storage.DecodeEndpoint(r)
		if err != nil {
			return nil, err
		}
		return s.Callback(stored)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.ready[r.Ref]
	if have != nil && have.revision == r.Revision {
		return have, nil
	}
	t, err := Open(s.vault, r)
	if err != nil {
		return nil, err
	}
	if have == nil {
		t.Gate = s.gate.NewEndpoint(r.Org)
	} else {
		t.Gate = have.Gate
		t.Destination.Tokens = t.Destination.Tokens.OrSame(have.Destination.Tokens)
		if *have.Destination.URL != *t.Destination.URL || t.IsRelay() { // a client has begun to listen
			t.Gate.Moved()
		}
	}
	t.Gate.Configure(t.RetryPolicy, t.RateLimit, t.BatchSize)
	s.ready[r.Ref] = t
	return t, nil
}

// Callback returns the target of a callback. The caller checks whether the organization is
// suspended. After an error it cannot be prepared. The callbacks of an organization to one
// server share a gate, so that a server with many subscriptions gets no more requests at once
// than an endpoint.
func (s *Registry) Callback(stored storage.WebhookEndpoint) (*Target, error) {
	t, err := open(s.vault, stored, 0)
	if err != nil {
		return nil, err
	}
	ref := storage.KindWebhookEndpoint.Ref(t.OrganizationID, storage.ServerOf(t.Destination.URL))
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.servers[ref]
	if r == nil {
		r = &server{gate: s.gate.NewEndpoint(t.OrganizationID)}
		r.gate.Configure(t.RetryPolicy, t.RateLimit, t.BatchSize)
		s.servers[ref] = r
	}
	t.Gate, r.used = r.gate, s.now()
	return t, nil
}
