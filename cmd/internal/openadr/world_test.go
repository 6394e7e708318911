package openadr_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestMain(m *testing.M) { os.Exit(storagetest.Run(m, 6)) }

// world is a process with an organization, its clients and a receiver of callbacks.
type world struct {
	t        *testing.T
	app      *app.App
	base     string
	document *document
	client   *http.Client
	operator *client.Client
	tokens   map[string]string // by role
	secrets  map[string]string // texts of the keys, by role
	keys     map[string]string // identifiers of the keys, by role
	receiver *receiver
}

const tariff = `{"name":"Home Charging","utility":"Pacific Gas & Electric Co","eiaid":14328,"energyratestructure":[[{"rate":0.25,"unit":"kWh"}]]}`

func newWorld(t *testing.T, change ...func(*app.Options)) *world {
	t.Helper()
	w := &world{t: t, tokens: map[string]string{}, secrets: map[string]string{}, keys: map[string]string{}, document: openDocument(t), receiver: newReceiver(t)}
	o := app.Local(t.TempDir(), slog.New(slog.DiscardHandler))
	o.OpenADR = config.OpenADR{Enabled: true, VerifyCallbacks: true, ReportRetention: 30 * 24 * time.Hour, MaxObjects: 20}
	o.AllowPrivate = true
	o.Limits.RateLimit, o.Limits.RateBurst = 1e6, 1e6 // one key makes all requests of a test
	for _, f := range change {
		f(&o)
	}
	a, err := app.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.app, w.base = a, a.URL()+"/openadr3/3.1.1/"
	w.client = http.DefaultClient
	if o.TLS.Certificate != "" {
		w.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities(t, o.TLS.Certificate)}}}
		t.Cleanup(w.client.CloseIdleConnections)
	}
	w.operator = &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	w.imports(`{"resource":"organization","id":"acme","name":"Acme"}`,
		`{"resource":"organization","id":"other","name":"Other"}`,
		`{"resource":"ratePlan","organizationId":"acme","id":"ev","tariff":`+tariff+`}`,
		`{"resource":"home","organizationId":"acme","id":"home_1","ratePlanId":"ev","zipcode":"94103"}`)
	for role, scope := range map[string]string{"bl": "openadr:bl", "ven1": "openadr:ven", "ven2": "openadr:ven", "bad": "read"} {
		w.addKey(role, "acme", scope)
	}
	w.addKey("foreign", "other", "openadr:bl")
	return w
}

func (w *world) imports(lines ...string) {
	w.t.Helper()
	imported, err := w.operator.Import(w.t.Context(), strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || imported.Failed > 0 {
		w.t.Fatalf("import: %+v %v", imported, err)
	}
}

// addKey creates a key and requests a token for it.
func (w *world) addKey(role, org, scope string) {
	w.t.Helper()
	body := strings.NewReader(`{"organizationId":"` + org + `","scopes":["` + scope + `"]}`)
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.app.AdminURL()+"/v1/admin/keys/create", body)
	must(w.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", w.app.OperatorKeyText())
	var key struct{ KeyID, Key string }
	w.do(request, http.StatusOK, &key)
	w.keys[role], w.secrets[role] = key.KeyID, key.Key
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {key.KeyID}, "client_secret": {key.Key}}
	a := w.form("auth/token", form)
	if a.status != http.StatusOK {
		w.t.Fatalf("token: %d %s", a.status, a.body)
	}
	w.tokens[role] = a.field("access_token")
}

func (w *world) do(r *http.Request, want int, into any) {
	w.t.Helper()
	response, err := w.client.Do(r)
	must(w.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(w.t, err)
	if response.StatusCode != want {
		w.t.Fatalf("%s %s: %d %s", r.Method, r.URL, response.StatusCode, body)
	}
	must(w.t, json.Unmarshal(body, into))
}

// answer is a response that matches the document.
type answer struct {
	status int
	header http.Header
	body   []byte
	t      *testing.T
}

func (a answer) field(name string) string {
	var o map[string]any
	if err := json.Unmarshal(a.body, &o); err != nil {
		a.t.Fatalf("no object: %v in %s", err, a.body)
	}
	text, _ := o[name].(string)
	return text
}

func (a answer) list() (list []map[string]any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, &list); err != nil {
		a.t.Fatalf("no list: %v in %s", err, a.body)
	}
	return list
}

// ask sends a request in a role, without a token if the role is "".
func (w *world) ask(role, method, path, body string) answer {
	w.t.Helper()
	var reader io.Reader = http.NoBody
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, reader)
	must(w.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if role != "" {
		request.Header.Set("Authorization", "Bearer "+w.tokens[role])
	}
	return w.send(request, path)
}

func (w *world) form(path string, form url.Values) answer {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.base+path, strings.NewReader(form.Encode()))
	must(w.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.send(request, path)
}

func (w *world) send(request *http.Request, path string) answer {
	w.t.Helper()
	response, err := w.client.Do(request)
	must(w.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(w.t, err)
	path, _, _ = strings.Cut(path, "?")
	w.document.check(w.t, request.Method, path, response.StatusCode, text)
	return answer{response.StatusCode, response.Header, text, w.t}
}

// want sends a request and compares the status.
func (w *world) want(status int, role, method, path, body string) answer {
	w.t.Helper()
	a := w.ask(role, method, path, body)
	if a.status != status {
		w.t.Errorf("%s: %s %s %s gets %d %s, want %d", role, method, path, body, a.status, a.body, status)
	}
	return a
}

// receiver accepts callbacks and echoes challenges.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	got     []callback
	changed chan struct{}
	status  int
}

// callback is a received notification.
type callback struct {
	path, query, authorization, id string
	body                           []byte
	ObjectType, Operation          string
	Object                         map[string]any
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{changed: make(chan struct{}), status: http.StatusOK}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet {
		if request.URL.Path != "/silent" {
			_, _ = io.WriteString(w, request.URL.Query().Get("echo"))
		}
		return
	}
	body, _ := io.ReadAll(request.Body)
	c := callback{path: request.URL.Path, query: request.URL.RawQuery, authorization: request.Header.Get("Authorization"), id: request.Header.Get("Webhook-Id"), body: body}
	_ = json.Unmarshal(body, &c)
	r.mu.Lock()
	defer r.mu.Unlock()
	w.WriteHeader(r.status)
	r.got = append(r.got, c)
	close(r.changed)
	r.changed = make(chan struct{})
}

// await waits for a callback that matches.
func (w *world) await(what string, wanted func(c *callback) bool) callback {
	w.t.Helper()
	late := time.After(patience)
	for {
		w.receiver.mu.Lock()
		changed := w.receiver.changed
		for _, c := range w.receiver.got {
			if wanted(&c) {
				w.receiver.mu.Unlock()
				w.document.checkNotification(w.t, c.body)
				return c
			}
		}
		w.receiver.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			w.t.Fatalf("no callback of %s; %d others arrived", what, len(w.receiver.got))
		}
	}
}

// count returns the number of callbacks that match.
func (w *world) count(wanted func(c *callback) bool) (n int) {
	w.receiver.mu.Lock()
	defer w.receiver.mu.Unlock()
	for _, c := range w.receiver.got {
		if wanted(&c) {
			n++
		}
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
