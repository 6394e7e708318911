package openadr_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
)

// TestRules_Versions checks that every version 3.1 has the same operations, and no other
// version has any.
func TestRules_Versions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.base
	for version, status := range map[string]int{"3.1.0": http.StatusOK, "3.1.1": http.StatusOK, "3.1.9": http.StatusOK, "3.0.1": http.StatusNotFound, "3.2.0": http.StatusNotFound} {
		w.base = strings.Replace(own, "3.1.1", version, 1)
		w.want(status, "ven1", http.MethodGet, "programs", "")
	}
}

// TestRules_Off checks that a server without the setting has no OpenADR operations.
func TestRules_Off(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, err := app.Start(t.Context(), app.Local(t.TempDir(), w.app.Log))
	must(t, err)
	defer func() { must(t, a.Stop()) }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+"/openadr3/3.1.1/programs", http.NoBody)
	must(t, err)
	w.do(request, http.StatusNotFound, new(any))
}

// TestRules_DeletedParent checks that a report and a subscription, which stay when their event
// and program are deleted, can still be updated, for example with late values of a meter.
func TestRules_DeletedParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := w.program("Ended")
	event := w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"`+program+`"}`).field("id")
	report := `{"eventID":"` + event + `","clientName":"c","resources":[]}`
	subscription := `{"clientName":"c","programID":"` + program + `","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` + w.receiver.URL + `/quiet"}]}`
	bodies := map[string]string{"reports": report, "subscriptions": subscription}
	ids := map[string]string{}
	for path, body := range bodies {
		ids[path] = w.want(http.StatusCreated, "ven1", http.MethodPost, path, body).field("id")
	}
	w.want(http.StatusOK, "bl", http.MethodDelete, "programs/"+program, "")
	for path, body := range bodies {
		w.want(http.StatusOK, "ven1", http.MethodPut, path+"/"+ids[path], body)
		w.want(http.StatusBadRequest, "ven1", http.MethodPost, path, body)
	}
	w.want(http.StatusOK, "ven1", http.MethodPut, "subscriptions/"+ids["subscriptions"], strings.Replace(subscription, `"programID":"`+program+`",`, "", 1))
	w.want(http.StatusBadRequest, "ven1", http.MethodPut, "subscriptions/"+ids["subscriptions"], subscription)
	if list := w.want(http.StatusOK, "bl", http.MethodGet, "reports?programID="+program, "").list(); len(list) != 1 {
		t.Errorf("the program's reports are %v, want the updated one", list)
	}
}

// TestRules_HiddenParent checks that a VEN reports about an event, and subscribes to a program,
// only if it was granted a target of it. Otherwise, the response is as for an unknown one.
func TestRules_HiddenParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(http.StatusCreated, "bl", http.MethodPost, "vens", `{"objectType":"BL_VEN_REQUEST","clientID":"`+w.keys["ven1"]+`","venName":"v1","targets":["group1"]}`)
	program := w.want(http.StatusCreated, "bl", http.MethodPost, "programs", `{"programName":"Hidden","targets":["group1","group2"]}`).field("id")
	event := w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"`+program+`","targets":["group1","group2"]}`).field("id")
	for path, body := range map[string]string{
		"reports":       `{"eventID":"` + event + `","clientName":"c","resources":[]}`,
		"subscriptions": `{"clientName":"c","programID":"` + program + `","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` + w.receiver.URL + `/quiet"}]}`,
	} {
		unknown := strings.NewReplacer(event, "event_none", program, "program_none").Replace(body)
		hidden, absent := w.want(http.StatusBadRequest, "ven2", http.MethodPost, path, body), w.want(http.StatusBadRequest, "ven2", http.MethodPost, path, unknown)
		same := strings.NewReplacer(event, "event_none", program, "program_none").Replace(hidden.field("detail"))
		if same != absent.field("detail") {
			t.Errorf("%s: %q for a hidden object, %q for an unknown one", path, same, absent.field("detail"))
		}
		w.want(http.StatusCreated, "ven1", http.MethodPost, path, body)
	}
}

// TestRules_RevokedKey checks that the tokens of a revoked key, and those of a suspended
// organization, end at once, and that neither gets a new token.
func TestRules_RevokedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.operator.RevokeKey(t.Context(), w.keys["ven1"])
	must(t, err)
	w.want(http.StatusUnauthorized, "ven1", http.MethodGet, "programs", "")
	w.want(http.StatusOK, "ven2", http.MethodGet, "programs", "")
	suspended := true
	_, err = w.operator.UpdateOrganization(t.Context(), "acme", client.OrganizationFields{Suspended: &suspended})
	must(t, err)
	w.want(http.StatusUnauthorized, "ven2", http.MethodGet, "programs", "")
	w.want(http.StatusOK, "foreign", http.MethodGet, "programs", "")
	for _, name := range []string{"ven1", "ven2"} {
		a := w.form("auth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {w.keys[name]}, "client_secret": {w.secrets[name]}})
		if a.status != http.StatusUnauthorized {
			t.Errorf("%s gets a token: %d %s", name, a.status, a.body)
		}
	}
}

// TestRules_RateLimit checks that a key's limit of requests holds for its tokens, with
// Retry-After.
func TestRules_RateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *app.Options) { o.Limits.RateLimit, o.Limits.RateBurst = 0.001, 5 })
	for range 5 {
		w.ask("ven1", http.MethodGet, "notifiers", "")
	}
	if a := w.want(http.StatusTooManyRequests, "ven1", http.MethodGet, "programs", ""); a.header.Get("Retry-After") == "" {
		t.Errorf("the refusal is %v %s", a.header, a.body)
	}
	w.want(http.StatusOK, "ven2", http.MethodGet, "programs", "")
}

// TestRules_Metrics checks that operations are counted by their path's pattern.
func TestRules_Metrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(http.StatusOK, "ven1", http.MethodGet, "programs/ev", "")
	waitFor(t, "a metric of the operation", func() (struct{}, bool) {
		response, err := http.Get(w.app.AdminURL() + "/metrics")
		must(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		must(t, err)
		return struct{}{}, strings.Contains(string(text), `"GET /openadr3/programs/{id}"`)
	})
}

// An update cannot grow an object beyond the organization's limit of stored bytes.
func TestRules_MaxState(t *testing.T) {
	w := newWorld(t, func(o *app.Options) { o.Limits.MaxState = 20_000 })
	program := func(value string) string {
		return `{"objectType":"PROGRAM","programName":"P","attributes":[{"type":"X","values":["` + value + `"]}]}`
	}
	created := w.ask("bl", http.MethodPost, "programs", program("short"))
	if created.status != http.StatusCreated {
		t.Fatalf("the creation: %d %s", created.status, created.body)
	}
	for size, want := range map[int]int{100: http.StatusOK, 25_000: http.StatusConflict} {
		if got := w.ask("bl", http.MethodPut, "programs/"+created.field("id"), program(strings.Repeat("x", size))); got.status != want {
			t.Errorf("an update to %d bytes: %d %s, want %d", size, got.status, got.body, want)
		}
	}
}

// Bodies that arrive slowly take the organization's share of max-unread, as in the other
// operations.
func TestRules_MaxUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *app.Options) { o.Limits.MaxUnread = 1 << 20 })
	reads, ended := make(chan struct{}), make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reads) }})
	body, to := io.Pipe()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base+"programs", body)
	must(t, err)
	request.ContentLength = 200 << 10
	request.Header = http.Header{"Authorization": {"Bearer " + w.tokens["bl"]}, "Content-Type": {"application/json"}, "Expect": {"100-continue"}}
	go func() {
		defer close(ended)
		if response, err := w.client.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-reads
	wrong := strings.Repeat(" ", 100<<10)
	if a := w.ask("bl", http.MethodPost, "programs", wrong); a.status != http.StatusTooManyRequests || !strings.Contains(string(a.body), "max-unread") {
		t.Errorf("a second body gets %d %.200s, want 429 with the limit's name", a.status, a.body)
	}
	if a := w.ask("foreign", http.MethodPost, "programs", wrong); a.status != http.StatusBadRequest {
		t.Errorf("another organization gets %d %.200s, want 400", a.status, a.body)
	}
	must(t, to.CloseWithError(io.ErrUnexpectedEOF))
	<-ended
}
