package target

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

// maxReady limits the targets of a registry. Only callbacks make room, because their
// gates are kept by server. An endpoint's gate has its breaker and its limits. A setting
// limits the endpoints of an organization.
const maxReady = 16384

// Registry holds the targets of a worker. It prepares each target once per revision.
type Registry struct {
	vault *vault.Vault
	gate  *gate.Gate

	mu    sync.Mutex
	ready map[storage.Ref]*Target
	// servers holds the gates of callbacks.
	servers map[server]*gate.Endpoint
}

// server is a receiver of an organization's callbacks.
type server struct{ org, scheme, host, port string }

func serverOf(org string, u *url.URL) server {
	return server{org, u.Scheme, strings.ToLower(u.Hostname()), cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")}
}

// NewRegistry returns an empty registry.
func NewRegistry(v *vault.Vault, g *gate.Gate) *Registry {
	return &Registry{vault: v, gate: g, ready: map[storage.Ref]*Target{}, servers: map[server]*gate.Endpoint{}}
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
		t, err := s.prepare(r, decoded(r))
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
	t, err := s.prepare(r, decoded(r))
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

// Callback returns callback n of a subscription, which the caller has decoded from its
// record. The caller checks whether the organization is suspended. Errors: ErrBroken.
func (s *Registry) Callback(r storage.Record, o *storage.OpenADRObject, n int) (*Target, error) {
	r.ID = o.CallbackID(n)
	t, err := s.prepare(r, func() (storage.WebhookEndpoint, error) { return o.Endpoint(n), nil })
	if err != nil {
		return nil, errors.Join(ErrBroken, err)
	}
	return t, nil
}

// ErrBroken says that an endpoint cannot be prepared for sending.
var ErrBroken = errors.New("the endpoint's record cannot be used")

// Sweep drops endpoints that are missing from a view, with their secrets.
func (s *Registry) Sweep(v storage.View) error {
	s.mu.Lock()
	refs := make([]storage.Ref, 0, len(s.ready))
	for ref := range s.ready {
		refs = append(refs, ref)
	}
	s.mu.Unlock()
	for _, ref := range refs {
		r, err := storage.FindEndpoint(v, ref.Org, ref.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound), err == nil && r.Deleted:
			s.drop(ref)
		case err != nil:
			return err
		}
	}
	s.dropServers()
	return nil
}

// dropServers drops the gates that no target uses.
func (s *Registry) dropServers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[*gate.Endpoint]bool{}
	for _, t := range s.ready {
		used[t.Gate] = true
	}
	maps.DeleteFunc(s.servers, func(_ server, g *gate.Endpoint) bool { return !used[g] })
}

func (s *Registry) drop(ref storage.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ready, ref)
}

// Down counts the endpoints, and the servers of callbacks, that are down.
func (s *Registry) Down(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	down := map[*gate.Endpoint]bool{}
	for _, t := range s.ready {
		if t.Gate.Down(now) {
			down[t.Gate] = true
		}
	}
	return len(down)
}

// maxReported limits the breakers in a report, so that the report fits into a message.
// Each has some 150 bytes.
const maxReported = 4096

// OpenBreakers lists the endpoints whose breakers are not closed. Callbacks come last,
// because thousands may share one breaker.
func (s *Registry) OpenBreakers() (list []events.OpenBreaker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var callbacks []events.OpenBreaker
	for ref, t := range s.ready {
		since, probeAt, open := t.Gate.Standing()
		if !open {
			continue
		}
		b := events.OpenBreaker{
			OrganizationID: t.OrganizationID, EndpointID: t.ID, Since: storage.Time{Time: since.UTC()}, ProbeAt: storage.Time{Time: probeAt.UTC()},
		}
		if ref.Kind == storage.KindOpenADRSubscription {
			callbacks = append(callbacks, b)
		} else {
			list = append(list, b)
		}
	}
	list = append(list, callbacks...)
	return list[:min(len(list), maxReported)]
}

func decoded(r storage.Record) func() (storage.WebhookEndpoint, error) {
	return func() (storage.WebhookEndpoint, error) { return storage.DecodeEndpoint(r) }
}

// prepare returns the target of a record. It prepares a target once per revision. The
// gate's state survives across revisions.
func (s *Registry) prepare(r storage.Record, decode func() (storage.WebhookEndpoint, error)) (*Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.ready[r.Ref]
	if have != nil && have.revision == r.Revision {
		return have, nil
	}
	stored, err := decode()
	if err != nil {
		return nil, err
	}
	t, err := open(s.vault, stored, r.Revision)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Kind == storage.KindOpenADRSubscription:
		t.Gate = s.serverGate(serverOf(r.Org, t.Destination.URL))
	case have == nil:
		t.Gate = s.gate.NewEndpoint()
	default:
		t.Gate = have.Gate
		t.Destination.Tokens = t.Destination.Tokens.OrSame(have.Destination.Tokens)
		if *have.Destination.URL != *t.Destination.URL {
			t.Gate.Moved()
		}
	}
	t.Gate.Configure(t.RetryPolicy, t.RateLimit, t.BatchSize)
	if len(s.ready) >= maxReady {
		for ref := range s.ready { // any callback; it is prepared again when needed
			if ref.Kind == storage.KindOpenADRSubscription {
				delete(s.ready, ref)
				break
			}
		}
	}
	s.ready[r.Ref] = t
	return t, nil
}

// serverGate returns the gate of an organization's callbacks to one server. They share its
// limits, so that a server with many subscriptions gets no more requests at once than an
// endpoint. The caller holds mu.
func (s *Registry) serverGate(of server) *gate.Endpoint {
	if s.servers[of] == nil {
		s.servers[of] = s.gate.NewEndpoint()
	}
	return s.servers[of]
}
