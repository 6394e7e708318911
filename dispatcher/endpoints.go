package dispatcher

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridhook/gridhook/dispatcher/http1"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

// endpoint is a webhook endpoint made ready to send to.
type endpoint struct {
	storage.WebhookEndpoint
	revision uint64
	url      *url.URL
	header   http.Header // what every request has; not to be changed
	timeout  time.Duration
	signers  []*signer
	// tokens authorize the requests, nil where none are needed or one that does not
	// change is in header.
	tokens   *tokens
	identity http1.Identity
	bulkhead *bulkhead
	breaker  *breaker
	crowd    *crowd
	// limiter spreads the endpoint's deliveries, nil when there is no limit.
	limiter *rate.Limiter

	// http2 is set once the destination has said that it speaks HTTP/2.
	http2 atomic.Bool
	once  sync.Once
	lean  *http1.Target
}

// target is the endpoint made ready for the one client that sends to it.
func (e *endpoint) target(c *http1.Client) *http1.Target {
	e.once.Do(func() { e.lean = c.TargetAs(e.url, e.header, e.identity) })
	return e.lean
}

// endpoints keeps the endpoints ready, by revision.
type endpoints struct {
	vault *vault.Vault
	share int // requests in flight an endpoint
	slow  int // slow slices an endpoint

	mu    sync.Mutex
	ready map[storage.Ref]*endpoint
}

// maxReady bounds the endpoints kept ready.
const maxReady = 16384

func newEndpoints(v *vault.Vault, share, slow int) *endpoints {
	return &endpoints{vault: v, share: share, slow: slow, ready: map[storage.Ref]*endpoint{}}
}

// of lists an organization's enabled endpoints that want an event type.
func (s *endpoints) of(v storage.View, org, eventType string) ([]*endpoint, error) {
	var list []*endpoint
	var failed error
	err := v.Scan(storage.KindWebhookEndpoint, org, "", func(r storage.Record) bool {
		if r.Deleted {
			return true
		}
		e, err := s.prepare(r)
		if err != nil {
			failed = err
			return false
		}
		if e.Wants(eventType) {
			list = append(list, e)
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return list, err
}

// get is one endpoint. Errors: storage.ErrNotFound.
func (s *endpoints) get(v storage.View, org, id string) (*endpoint, error) {
	r, err := v.Get(storage.WebhookEndpointRef(org, id))
	if err != nil {
		return nil, err
	}
	if r.Deleted {
		return nil, storage.ErrNotFound
	}
	return s.prepare(r)
}

// down counts the endpoints that are taken to be down.
func (s *endpoints) down(now time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ready {
		if e.breaker.down(now) {
			n++
		}
	}
	return n
}

// mostTold bounds the breakers that a worker tells of, of some 150 bytes each: what is
// told must fit into a message.
const mostTold = 4096

// open lists the breakers that are not closed.
func (s *endpoints) open() (list []events.OpenBreaker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ready {
		if since, probeAt, ok := e.breaker.standing(); ok && len(list) < mostTold {
			list = append(list, events.OpenBreaker{
				OrganizationID: e.OrganizationID, EndpointID: e.ID, Since: storage.Time{Time: since.UTC()}, ProbeAt: storage.Time{Time: probeAt.UTC()},
			})
		}
	}
	return list
}

// prepare returns the endpoint of a record, made ready once a revision. What is
// known of its behaviour lives on across revisions.
func (s *endpoints) prepare(r storage.Record) (*endpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.ready[r.Ref]
	if have != nil && have.revision == r.Revision {
		return have, nil
	}
	e, err := open(s.vault, r)
	if err != nil {
		return nil, err
	}
	if have != nil {
		e.bulkhead, e.breaker, e.crowd = have.bulkhead, have.breaker, have.crowd
		e.tokens = e.tokens.orThose(have.tokens)
		if have.URL != e.URL {
			e.breaker = &breaker{} // it is another place
		}
	} else {
		e.bulkhead, e.breaker, e.crowd = newBulkhead(s.share), &breaker{}, &crowd{most: s.slow}
	}
	if e.RateLimit > 0 {
		e.limiter = rate.NewLimiter(rate.Limit(e.RateLimit), max(1, int(e.RateLimit/10), e.BatchSize)) // as a batch is taken at once
	}
	if len(s.ready) >= maxReady {
		for ref := range s.ready { // any one: it is made ready again when needed
			delete(s.ready, ref)
			break
		}
	}
	s.ready[r.Ref] = e
	return e, nil
}

// open decodes an endpoint and opens its secrets.
func open(v *vault.Vault, r storage.Record) (*endpoint, error) {
	stored, err := storage.Decode[storage.WebhookEndpoint](r)
	if err != nil {
		return nil, err
	}
	e := &endpoint{
		WebhookEndpoint: stored, revision: r.Revision,
		header:  http.Header{"Content-Type": {"application/json"}, "User-Agent": {"Gridhook/1.0"}},
		timeout: time.Duration(stored.TimeoutSeconds * float64(time.Second)),
	}
	if stored.Compression == storage.CompressionGzip {
		e.header.Set("Content-Encoding", "gzip")
	}
	for name, value := range stored.Headers {
		e.header.Set(name, value)
	}
	if e.url, err = url.Parse(stored.URL); err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", r.ID, err)
	}
	if err := e.openSecrets(v); err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", r.ID, err)
	}
	return e, nil
}

// openSecrets opens what signs and authorizes the requests.
func (e *endpoint) openSecrets(v *vault.Vault) error {
	for _, sealed := range e.Secrets {
		secret, err := v.Open(e.OrganizationID, e.ID, sealed.Sealed)
		if err != nil {
			return err
		}
		signer, err := newSigner(secret, sealed.ExpiresAt.Time)
		if err != nil {
			return err
		}
		e.signers = append(e.signers, signer)
	}
	if a := e.Authentication; a != nil {
		secret, err := v.Open(e.OrganizationID, e.ID, a.Sealed)
		if err != nil {
			return err
		}
		if a.Type == storage.AuthenticationOAuth2 {
			e.tokens = newTokens(a, secret)
		} else {
			e.header.Set("Authorization", "Bearer "+secret)
		}
	}
	if c := e.ClientCertificate; c != nil {
		key, err := v.Open(e.OrganizationID, e.ID, c.SealedKey)
		if err != nil {
			return err
		}
		certificate, err := tls.X509KeyPair([]byte(c.Certificate), []byte(key))
		if err != nil {
			return errors.New("the client certificate and its key do not go together")
		}
		e.identity = http1.Identity{
			Name:        fmt.Sprintf("%s/%s %x", e.OrganizationID, e.ID, sha256.Sum256(certificate.Certificate[0])),
			Certificate: &certificate,
		}
	}
	return nil
}
