package browser

import (
	"strings"
	"testing"
)

// TestPartner_Scopes signs in with keys of few scopes, and sees only what the scopes allow.
func TestPartner_Scopes(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	w := newWorld(t)
	p.open(w.API + "/console/")

	p.sees("label", "API key")
	p.enter("API key", w.key("read"))
	p.press(enterKey)
	p.sees("h1", "Overview")
	p.shows(".organization", "key_")
	if p.has("h2", "This process") {
		t.Error("a partner sees process metrics of all organizations")
	}
	p.click("nav a", "Triggers")
	p.sees("p", "No triggers yet.")
	if p.has("button", "Trigger every home") {
		t.Error("a key without the scope sees the trigger button")
	}
	p.click("nav a", "Endpoints")
	p.sees("p", "No endpoints yet. …")
	if p.has("button", "Add endpoint") {
		t.Error("a key without the scope sees write controls")
	}
	p.click("nav a", "Homes")
	p.enter("Search", home(3))
	p.click("td a", home(3))
	p.until(`t.all(".plot path.line.import").length === 1`)
	p.shows("dd", plan(t).ID)
	p.shows("label", "From local midnight in "+zone)
	p.click("td a", "thermostat-3")
	p.shows("dd", "Hallway")
	if p.has("button", "Unlink") {
		t.Error("a key without the scope may unlink a thermostat")
	}
	p.click("dd a, p a", home(3))
	p.until(`t.all(".plot path.line.import").length === 1`)
	p.look("partner-home")
	p.open(w.API + "/console/#/homes/home_of_somebody_else")
	p.shows(".problem", `There is no home "home_of_somebody_else" in organization`)
	p.look("problem")

	p.click("button", "Sign out")
	p.enter("API key", w.key("trigger"))
	p.press(enterKey)
	p.sees("h1", "Triggers")
	p.trigger()
	p.sees(".notice", "trg_…")
	if p.has("nav a", "Endpoints") {
		t.Error("a key without the scope sees the endpoints")
	}

	key := w.key("read")
	p.click("button", "Sign out")
	p.enter("API key", key)
	p.press(enterKey)
	p.sees("h1", "Overview")
	w.command("key", "revoke", keyID(key))
	p.sees(".notice", "The key is no longer valid. Sign in with another.")

	p.enter("API key", w.key())
	p.enter("Act for (optional)", "other")
	p.click("button", "Sign in")
	p.shows(".problem", "The API key may not act for organization \"other\".")
}

// keyID returns the identifier in a key's text, ghk_<key id>_<secret>.
func keyID(key string) string {
	return key[len("ghk_"):strings.LastIndexByte(key, '_')]
}
