package openadr

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

// subscriber is a client with one subscription.
type subscriber struct {
	*server
	t *testing.T
	// verified lists the callbacks that were sent a challenge.
	verified []string
}

func newSubscriber(t *testing.T) *subscriber {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	sealing, err := vault.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	s := &subscriber{t: t}
	s.server = &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), Vault: sealing, REST: rest.New(rest.Deps{Store: store}, rest.Options{}), CheckDestination: func(string, string, *rest.FieldErrors) error { return nil }}}
	s.Verify = func(_ context.Context, _ *rest.Caller, url, _ string, _ *rest.FieldErrors) error {
		s.verified = append(s.verified, url)
		return nil
	}
	return s
}

// send creates a subscription, or updates the one with an id. It returns the response as text.
func (s *subscriber) send(id string, operations ...string) (string, error) {
	r := business(s.t.Context(), http.MethodPut, id)
	r.Now = storagetest.Start
	r.Header.Set("Content-Type", "application/json")
	for i := range operations {
		operations[i] = `{"objects":["EVENT"],"operations":["CREATE"],` + operations[i] + `}`
	}
	r.Request.Body = io.NopCloser(strings.NewReader(`{"clientName":"c","objectOperations":[` + strings.Join(operations, ",") + `]}`))
	k, write := subscriptions(), s.update
	if id == "" {
		write = s.create
	}
	value, err := write(k, r)
	if c, ok := value.(created); ok {
		value = c.value
	}
	text, _ := value.(json.RawMessage)
	return string(text), err
}

func subscriptions() *kind { return kinds()[3] }

// read returns the subscription as a client reads it, by itself and in the list.
func (s *subscriber) read(id string) string {
	s.t.Helper()
	one, err := s.get(subscriptions(), business(s.t.Context(), http.MethodGet, id))
	all, listed := s.list(subscriptions(), business(s.t.Context(), http.MethodGet, ""))
	if err != nil || listed != nil {
		s.t.Fatal(err, listed)
	}
	text, _ := json.Marshal([]any{one, all})
	return string(text)
}

// opened returns the URL and the token of each callback in the clear, and the stored record.
func (s *subscriber) opened(id string) (callbacks []string, stored string) {
	s.t.Helper()
	o, err := storage.Get[storage.OpenADRObject](s.Store, storage.OpenADRRef(storage.OpenADRSubscription, "acme", id))
	if err != nil {
		s.t.Fatal(err)
	}
	text, _ := json.Marshal(o)
	for n := range o.Callbacks {
		e := o.Endpoint(n)
		token := ""
		err := s.Vault.OpenEndpoint(&e)
		if err == nil && e.Authentication != nil {
			token, err = s.Vault.Open("acme", e.ID, e.Authentication.Sealed)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		callbacks = append(callbacks, e.URL+" "+token)
	}
	return callbacks, string(text)
}

const (
	queryURL  = `"callbackUrl":"https://ven.example/a?sig=opaque-1&v=2"`
	maskedURL = `"callbackUrl":"https://ven.example/a?********"`
)

// TestSubscription_MaskedQuery checks that the query of a callback is sealed at rest and
// masked in every response, and that the masked URL keeps it.
func TestSubscription_MaskedQuery(t *testing.T) {
	const token, maskedToken, plain = `,"bearerToken":"opaque-t"`, `,"bearerToken":"********"`, `"callbackUrl":"https://ven.example/b"`
	const first, second = "https://ven.example/a?sig=opaque-1&v=2 opaque-t", "https://ven.example/b opaque-t"
	s := newSubscriber(t)
	id := ""
	for _, step := range []struct {
		name       string
		operations []string
		want       []string // nil if the request is refused
		verified   int
	}{
		{"a masked URL of nothing", []string{maskedURL}, nil, 0},
		{"a fragment", []string{`"callbackUrl":"https://ven.example/a?b#c"`}, nil, 0},
		{"create", []string{queryURL + token, plain + token}, []string{first, second}, 2},
		{"as shown", []string{maskedURL + maskedToken, plain + maskedToken}, []string{first, second}, 0},
		{"as sent", []string{queryURL + maskedToken, plain + maskedToken}, []string{first, second}, 0},
		{"the mask at another URL", []string{`"callbackUrl":"https://evil.example/a?********"` + token}, nil, 0},
		{"the mask at another number", []string{plain + maskedToken, maskedURL + token}, nil, 0},
		{"the token at another query", []string{`"callbackUrl":"https://ven.example/a?sig=opaque-3"` + maskedToken}, nil, 0},
		{"another query", []string{`"callbackUrl":"https://ven.example/a?sig=opaque-2"` + token}, []string{"https://ven.example/a?sig=opaque-2 opaque-t"}, 1},
		{"as shown again", []string{maskedURL}, []string{"https://ven.example/a?sig=opaque-2 "}, 0},
	} {
		s.verified = nil
		shown, err := s.send(id, step.operations...)
		if _, refused := errors.AsType[*storage.InvalidError](err); refused != (step.want == nil) || err != nil && !refused || len(s.verified) != step.verified {
			t.Fatalf("%s: got %v and verified %v", step.name, err, s.verified)
		}
		if err != nil {
			continue
		}
		id = field(t, shown, "id")
		got, stored := s.opened(id)
		if strings.Join(got, ",") != strings.Join(step.want, ",") {
			t.Errorf("%s: the callbacks are %q, want %q", step.name, got, step.want)
		}
		for _, text := range []string{shown, stored, s.read(id)} {
			if strings.Contains(text, "opaque") || !strings.Contains(text, maskedURL) {
				t.Errorf("%s: it is stored or shown as %s", step.name, text)
			}
		}
	}
}

// TestSubscription_UnsealedQuery checks that a subscription of an earlier build is masked in
// responses and works, and that its next update seals its query.
func TestSubscription_UnsealedQuery(t *testing.T) {
	s := newSubscriber(t)
	old := object(storage.OpenADRSubscription, "sub_old", "")
	old.ClientID, old.Name = "key_1", "c"
	old.Callbacks = []storage.Callback{{URL: "https://ven.example/a?sig=opaque-1&v=2", Objects: []storage.OpenADRType{storage.OpenADREvent}, Operations: []string{"CREATE"}}}
	old.Body = []byte(`{"clientName":"c","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],` + queryURL + `}]}`)
	storagetest.Put(t, s.Store, old)
	if shown := s.read(old.ID); strings.Contains(shown, "opaque") || !strings.Contains(shown, maskedURL) {
		t.Errorf("it is shown as %s", shown)
	}
	const want = "https://ven.example/a?sig=opaque-1&v=2 "
	if got, _ := s.opened(old.ID); len(got) != 1 || got[0] != want {
		t.Errorf("it opens as %q", got)
	}
	if _, err := s.send(old.ID, maskedURL); err != nil {
		t.Fatal(err)
	}
	if got, stored := s.opened(old.ID); len(got) != 1 || got[0] != want || strings.Contains(stored, "opaque") || len(s.verified) > 0 {
		t.Errorf("it opens as %q, verified %v, and is stored as %s", got, s.verified, stored)
	}
}

func field(t *testing.T, object, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	text, _ := fields[name].(string)
	return text
}
