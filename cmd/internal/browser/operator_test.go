package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// TestOperator_Console uses the operator's console: sign-in, an endpoint, a trigger until its
// completion, a failed delivery, tests, a rotation, and a home's signal over a clock
// change.
func TestOperator_Console(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	w := newWorld(t)
	p.open(w.Admin + "/console/")

	p.signInAsOperator(w)
	id := p.createEndpoint(w)
	p.watchTrigger(w, id)
	p.turnsPages(id)
	p.overview(w)
	p.retriesManually(w, id)
	p.schedules()
	p.useEndpoint(w, id)
	p.seesABreaker(w)
	p.drawSignals()
	p.watchesASource(w)
	p.storesNothing(w)
}

func (p *tab) signInAsOperator(w *world) {
	p.t.Helper()
	p.sees("h1", "Sign in")
	p.look("signin")
	p.enter("Operator key", "gho_wrong")
	p.click("button", "Sign in")
	p.shows(".problem", "The API key is not valid.")
	p.shows(".problem", "AUTH_INVALID_API_KEY · request req_")
	p.enter("Operator key", w.operatorKey)
	p.press(enterKey)

	p.sees("h1", "Organizations")
	p.sees("td", "Somebody Else")
	p.look("organizations")
	p.click("button", organization)
	p.sees("h1", "Overview")
	p.sees(".organization", "Acting for "+organization)
	if got := p.focused(); got != "h1 Overview" {
		p.t.Errorf("the focus is on %q, not on the heading of the view", got)
	}
	p.skips()
}

// skips jumps from the top of the page past the navigation with two keys.
func (p *tab) skips() {
	p.t.Helper()
	ask[bool](p, `(document.activeElement.blur(), getSelection().setPosition(document.body, 0), true)`)
	p.press(tabKey)
	p.sees("a.skip:focus", "Skip to the content")
	p.press(enterKey)
	p.until(`document.activeElement === document.getElementById("main")`)
	p.sees("h1", "Overview")
}

// createEndpoint registers the receiver, first with errors.
func (p *tab) createEndpoint(w *world) string {
	p.t.Helper()
	p.click("nav a", "Endpoints")
	p.sees("p", "No endpoints yet. Triggers deliver nothing until you add one.")
	p.click("button", "Add endpoint")
	p.enter("URL", "nowhere")
	p.enter("First delay (seconds)", "0")
	p.click("button", "Create endpoint")
	p.shows(".problem", "Correct the marked fields.")
	p.sees(".field-error", "URL must be an absolute URL such as https://example.com/hooks.")
	p.sees(".field-error", "First delay (seconds) must be from 1 to 3600.")
	if got := p.focused(); !strings.HasPrefix(got, "input") {
		p.t.Errorf("the focus is on %q, not on the wrong field", got)
	}
	p.click("summary", "Events, headers and signature")
	p.look("endpoint-new")

	p.enter("URL", w.receiver.url)
	p.enter("Description", "the receiver of this test")
	p.enter("First delay (seconds)", "1")
	p.enter("Longest delay (seconds)", "1")
	p.click("button", "Create endpoint")
	p.sees("dialog h2", "Endpoint created")
	p.until(`t.field("Signing secret").value.startsWith("whsec_")`)
	p.look("secret")
	p.click("button", "I have stored it")
	p.sees("h1", "ep_…")
	return ask[string](p, `document.querySelector("h1").textContent`)
}

// watchTrigger starts a trigger and watches it until its completion.
func (p *tab) watchTrigger(w *world, endpoint string) {
	p.t.Helper()
	p.click("nav a", "Triggers")
	p.set("Window from (optional)", "2030-01-01T00:00")
	p.trigger()
	p.sees(".field-error", "to is required when startTime is given.")
	p.set("Window from (optional)", "")
	p.click("button", "Trigger every home")
	p.sees("dialog p", "Gridhook sends about 130 webhooks: 130 homes to 1 enabled endpoint. …")
	p.look("trigger-confirm")
	p.click("dialog button", "Cancel")
	p.sees("p", "No triggers yet.")
	p.trigger()
	p.sees("h1", "trg_…")
	p.sees(".walk", "130 homes")
	p.opensRetrying()
	w.receiver.relent()
	p.sees(".filters button", "Delivered 129")
	w.giveUp(endpoint)
	p.sees(".headline .badge", "Completed")
	p.sees(".filters button", "Failed 1")
	p.until(`document.getElementById("spoken").textContent === "Completed. 129 Delivered, 1 Failed."`)
}

// trigger starts a trigger and confirms it.
func (p *tab) trigger() {
	p.t.Helper()
	p.click("button", "Trigger every home")
	p.click("dialog button", "Trigger")
}

// opensRetrying opens a failed delivery while it waits for a retry.
func (p *tab) opensRetrying() {
	p.t.Helper()
	p.click(".filters button", "Retrying 2")
	p.until(`t.all("tbody").length === 2`)
	p.click("button.toggle", lostHome)
	p.sees(".attempts li .answer", "Beginning of the response")
	p.shows(".attempts li .answer", refusal)
	p.shows(".attempts li", "HTTP 500")
	p.shows(".delivery", "Next attempt")
	p.look("trigger-running")
	p.shows(".answer", refusal) // it stays open while attempts continue
	if p.has(".answer b", "…") {
		p.t.Error("the response of a receiver became markup")
	}
}

// turnsPages pages through the log, and opens a failed delivery.
func (p *tab) turnsPages(endpoint string) {
	p.t.Helper()
	p.click(".filters button", "All 130")
	p.sees(".pages .hint", "Page 1")
	p.click(".pages button", "Next")
	p.sees(".pages .hint", "Page 2")
	p.click(".pages button", "Next")
	p.sees(".pages .hint", "Page 3")
	p.until(`t.all("tbody").length === 30`)
	p.click(".pages button", "Previous")
	p.sees(".pages .hint", "Page 2")
	p.until(`t.all("tbody").length === 50`)
	p.click(".filters button", "Failed 1")
	p.until(`t.all("tbody").length === 1`)
	p.click("button.toggle", lostHome)
	p.shows(".delivery", "Gridhook gave up. You can retry it.")
	p.shows(".delivery", "msg_")
	p.sees(".delivery a", endpoint)
	p.until(`t.all(".attempts li").length > 2`) // earlier attempts stay visible
	p.shows(".attempts li .answer", refusal)
	p.look("delivery")
}

// overview shows the trigger, and the rates while another one runs.
func (p *tab) overview(w *world) {
	p.t.Helper()
	w.command("trigger", "--org", other, "--watch")
	p.click("nav a", "Overview")
	p.sees("td", "130 homes")
	p.shows(".shares", "129 delivered")
	p.until(`t.all(".tile")[3].textContent.startsWith("Needs attention1")`)
	p.sees("h2", "Last 24 hours")
	p.until(`t.all(".history rect.good").some((e) => e.getAttribute("height") > 0)`)
	p.shows("[aria-labelledby=history] .hint", "130 deliveries, 1 need attention. 1 completed trigger, the slowest took")
	p.sees("h2", "Last 24 hours of all organizations")
	p.shows("[aria-labelledby=fleet] .hint", "130 deliveries, 1 need attention. 2 completed triggers, the slowest took")
	p.sees("h2", "This process")
	p.until(`t.all(".tile .figure").every((e) => e.textContent !== "–")`)
	p.until(`t.all(".spark path").length === 2`)
	w.command("trigger", "--org", organization)
	p.until(`t.all(".tile .figure")[0].textContent !== "0"`) // the organization's rate
	p.until(`t.all(".tile .figure")[4].textContent !== "0"`) // the process's
	p.shows(".shares", "258 delivered")
	p.look("overview")
}

// retriesManually retries failed deliveries manually: one by itself, and all that the
// endpoint missed.
func (p *tab) retriesManually(w *world, endpoint string) {
	p.t.Helper()
	p.click("nav a", "Triggers")
	p.until(`t.all("tbody").length === 2`)
	p.look("triggers")
	p.click("td a", "trg_…")
	p.sees(".filters button", "Failed 1")
	p.click(".filters button", "Failed 1")
	p.until(`t.all("tbody").length === 1`)
	p.click("button.toggle", lostHome)
	w.receiver.findTheKey()
	p.click(".delivery button", "Retry")
	p.sees("td .badge", "Delivered")
	p.shows(".delivery", "HTTP 204")
	p.sees(".filters button", "Delivered 130")
	if p.has(".delivery button", "Retry") {
		p.t.Error("a retry is offered for a delivered delivery")
	}
	p.look("retried")

	p.open(w.Admin + "/console/#/endpoints/" + endpoint)
	p.sees("h1", endpoint)
	p.click("button", "Replay missed deliveries")
	p.set("Failed in", "1")
	p.click("button", "Replay")
	p.sees("h2", "Replay Completed")
	p.look("replay")
	p.click(".panel button", "Close")
	p.until(`t.all("h2", "Replay Completed").length === 0`)
}

// schedules creates a schedule, first with errors, pauses it and deletes it.
func (p *tab) schedules() {
	p.t.Helper()
	p.click("nav a", "Schedules")
	p.sees("p", "No schedules yet. …")
	p.click("button", "Add schedule")
	p.set("Run", "cron")
	p.enter("Cron", "at noon")
	p.click("button", "Create schedule")
	p.until(`t.field("Cron").getAttribute("aria-invalid") === "true"`)
	p.enter("Cron", "0 12 * * 1")
	p.enter("Time zone", zone)
	p.look("schedule-new")
	p.click("button", "Create schedule")
	p.sees("td", "0 12 * * 1 in "+zone)
	p.sees("td", "the next 1 d")
	p.look("schedules")
	p.click("td button", "Edit sch_…")
	p.until(`t.field("Cron").value === "0 12 * * 1"`)
	p.enter("Description", longWord)
	p.click("button", "Save")
	p.sees("td", longWord)
	p.look("schedules-long")
	p.appear(800, "light")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.appear(widths[0], themes[0])
	p.click("td button", "Disable sch_…")
	p.sees("td", "Disabled")
	p.click("td button", "Delete sch_…")
	p.click("dialog button", "Delete")
	p.sees("p", "No schedules yet. …")
}

// useEndpoint tests the endpoint, changes it, and rotates its secret.
func (p *tab) useEndpoint(w *world, id string) {
	p.t.Helper()
	p.click("nav a", "Endpoints")
	p.shows("td", "Healthy")
	p.look("endpoints")
	p.click("td a", id)
	p.click("button", "Send a test")
	p.sees("h2", "Test Delivered")
	p.shows(".panel", "HTTP 204")
	if got := w.receiver.tested(); got != 1 {
		p.t.Errorf("%d tests arrived", got)
	}
	p.look("endpoint")
	p.set("Of", "events")
	p.click("button.toggle", "price_signal.trigger.completed")
	p.shows(".delivery", "evt_")
	p.shows(".attempts", "HTTP 204")
	if p.has(".delivery button", "Show the request") || p.has(".delivery dt", "Home") {
		p.t.Error("an event has a request or a home")
	}
	p.look("events")

	p.click("button", "Rotate secret")
	p.sees("dialog h2", "Rotate the signing secret?")
	p.look("rotate")
	p.click("dialog button", "Rotate")
	p.sees("dialog h2", "The new signing secret")
	p.until(`t.field("Signing secret").value.startsWith("whsec_")`)
	p.click("button", "I have stored it")
	p.until(`!document.querySelector("dialog")`)

	p.click("button", "Edit")
	p.enter("Description", "another word")
	p.click("button", "Save")
	p.sees("dd", "another word")
	p.click("button", "Disable")
	p.sees("dialog h2", "Disable this endpoint?")
	p.click("dialog button", "Disable")
	p.sees(".headline .badge", "Disabled")
	p.click("button", "Enable")
	p.sees(".headline .badge", "Enabled")

	p.click("button", "Delete")
	p.click("dialog button", "Cancel")
	p.until(`!document.querySelector("dialog")`)
	p.click("button", "Delete")
	p.click("dialog button", "Delete")
	p.sees("h1", "Endpoints")
	p.sees("p", "No endpoints yet. Triggers deliver nothing until you add one.")
}

// seesABreaker opens an endpoint without a server while its breaker is open, and sees it
// close once a server responds.
func (p *tab) seesABreaker(w *world) {
	p.t.Helper()
	address, err := blackbox.FreeAddress()
	if err != nil {
		p.t.Fatal(err)
	}
	var made struct{ ID string }
	text := w.command("endpoint", "create", "--org", organization, "--url", "http://"+address, "--description", "nobody is there", "--json")
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		p.t.Fatal(err)
	}
	p.open(w.Admin + "/console/#/endpoints/" + made.ID)
	p.shows("dd", "closed: deliveries are sent")
	w.command("trigger", "--org", organization)
	p.sees(".headline .badge", "Breaker open")
	p.shows("dd", "open: deliveries wait")
	p.shows("dt", "Next probe")
	p.sees("td .badge", "Retrying")
	p.look("endpoint-down")
	p.click("button", "Disable")
	p.until(`/drops its waiting retries: [1-9]/.test(t.text("dialog p"))`)
	p.look("endpoint-disable")
	p.click("dialog button", "Cancel")
	w.receiver.serve(p.t, address)
	p.until(`t.all(".headline .badge").every((e) => e.textContent !== "Breaker open" && e.textContent !== "Probing")`)
	p.shows("dd", "closed: deliveries are sent")
	p.click("button", "Delete")
	p.click("dialog button", "Delete")
	p.sees("h1", "Endpoints")
}

// storesNothing checks that the key is only in the tab's session storage, and not there
// after the sign-out.
func (p *tab) storesNothing(w *world) {
	p.t.Helper()
	leaks := ask[bool](p, `[location.href, document.cookie, JSON.stringify(localStorage), document.documentElement.outerHTML].some((s) => s.includes(`+js(w.operatorKey)+`))`)
	if leaks {
		p.t.Error("the key is in the address, a cookie, the local storage or the page")
	}
	p.set("Theme", "dark")
	p.until(`getComputedStyle(document.documentElement).colorScheme === "dark"`)
	must(p, "reload", chromedp.Reload())
	p.until(`getComputedStyle(document.documentElement).colorScheme === "dark"`)
	p.sees(".organization", "Acting for "+organization)
	p.click("button", "Sign out")
	p.sees("h1", "Sign in")
	p.until(`!JSON.stringify(sessionStorage).includes("gho_")`)
}
