package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	verify "github.com/gridhook/gridhook/cmd/internal/receiver"
)

// TestJourney_Partner goes from a console link to verified webhooks, without an operator's
// key: the partner adds an endpoint, gives its secret to the receiver, and triggers.
func TestJourney_Partner(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	w := newWorld(t)
	var verifier atomic.Pointer[verify.Verifier]
	var verified, forged atomic.Int64
	destination := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		v := verifier.Load()
		if v == nil { // the partner has not stored the secret yet
			answer.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the connection broke
		}
		if _, err := v.Verify(r.Header, body); err != nil {
			forged.Add(1)
			answer.WriteHeader(http.StatusUnauthorized)
			return
		}
		verified.Add(1)
		answer.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(destination.Close)
	var link struct{ Path string }
	if err := json.Unmarshal([]byte(w.command("console", "link", "--org", organization, "--scopes", "read,write,trigger", "--json")), &link); err != nil {
		t.Fatal(err)
	}
	p.open(w.API + link.Path)
	p.sees("h1", "Overview")
	p.click("nav a", "Endpoints")
	p.click("button", "Add endpoint")
	p.enter("URL", destination.URL)
	p.losesResponse("/v1/webhook/endpoints/create")
	p.click("button", "Create endpoint")
	p.shows(".problem", "The server did not respond.")
	p.click("button", "Create endpoint") // not a second one, which would get every webhook again
	p.until(`t.field("Signing secret").value.startsWith("whsec_")`)
	p.press(escapeKey, escapeKey) // the secret stays
	v, err := verify.NewVerifier(ask[string](p, `t.field("Signing secret").value`))
	if err != nil {
		t.Fatal(err)
	}
	verifier.Store(v)
	p.click("button", "I have stored it")
	p.sees("h1", "ep_…")
	p.click("nav a", "Triggers")
	p.trigger()
	p.sees(".headline .badge", "Completed")
	p.sees(".filters button", "Delivered 130")
	if verified.Load() < homes || forged.Load() > 0 {
		t.Errorf("%d webhooks were verified and %d were not, want %d and 0", verified.Load(), forged.Load(), homes)
	}
}

// losesResponse makes the page lose the next response of an operation.
func (p *tab) losesResponse(path string) {
	p.t.Helper()
	ask[bool](p, fmt.Sprintf(`(real => {
		window.fetch = async (to, ...rest) => {
			const response = await real(to, ...rest);
			if (to !== %q) return response;
			window.fetch = real;
			throw new TypeError("lost");
		};
		return true;
	})(window.fetch)`, path))
}

// TestJourney_Analyst finds a home without a price on the overview, reads the reason,
// gives the home a plan, and sees its signal delivered.
func TestJourney_Analyst(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	w := newWorld(t)
	w.receiver.relent()
	w.receiver.findTheKey()
	w.command("home", "create", "--org", organization, "--id", "home_new", "--name", "New", "--timezone", zone, "--zipcode", "94110")
	w.command("endpoint", "create", "--org", organization, "--url", w.receiver.url)
	w.command("trigger", "--org", organization)
	p.open(w.API + "/console/")
	p.signInAsPartner(w)
	p.shows(".shares", "1 unpriceable")
	p.look("journey-unpriceable")
	p.click("nav a", "Triggers")
	p.click("td a", "trg_…")
	p.click(".filters button", "Unpriceable 1")
	p.shows("tbody", "the home has no rate plan: set its ratePlanId")
	w.command("home", "update", "home_new", "--org", organization, "--plan", plan(t).ID)
	p.click("nav a", "Triggers")
	p.trigger()
	p.sees(".filters button", "Delivered 131")
	if body := w.receiver.body("home_new"); !strings.Contains(body, "price") {
		t.Errorf("the receiver has %q of the new home", body)
	}
}

// signInAsPartner signs in with a key of the organization.
func (p *tab) signInAsPartner(w *world) {
	p.t.Helper()
	p.enter("API key", w.key())
	p.press(enterKey)
	p.sees("h1", "Overview")
}
