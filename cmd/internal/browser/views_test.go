package browser

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/urdb"
)

// TestOperator_Views uses the views of a delivery's request, plans, channels, keys, tools
// and devices, the search by id, and the deletion of an organization.
func TestOperator_Views(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	w := newWorld(t)
	w.receiver.findTheKey()
	w.receiver.relent()
	// The audit log shows the long identifier of the partner's key.
	w.command("endpoint", "create", "--url", w.receiver.url, "--description", longWord, "--api-url", w.API, "--api-key", w.key("read", "write"))
	w.command("trigger", "--org", organization, "--watch")
	p.open(w.Admin + "/console/")
	p.enter("Operator key", w.operatorKey)
	p.press(enterKey)
	p.click("button", organization)
	p.sees("h1", "Overview")

	p.showsRequest(w)
	p.findsObjects()
	day := time.Now().AddDate(0, 0, 7).Format(time.DateOnly)
	p.readsPlans(w, day)
	p.usesTools(day)
	p.usesChannels(w)
	p.usesKeys()
	p.readsAudit()
	p.savesFiles()
	p.deletesOrganization()
}

// showsRequest opens a delivery by its message, and its request.
func (p *tab) showsRequest(w *world) {
	p.t.Helper()
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(w.command("delivery", "list", "--org", organization, "--home", home(3), "--json")), &list); err != nil || len(list) != 1 {
		p.t.Fatalf("%d deliveries: %v", len(list), err)
	}
	var made struct{ Body, BodySource string }
	if err := json.Unmarshal([]byte(w.command("delivery", "request", list[0].ID, "--org", organization, "--json")), &made); err != nil {
		p.t.Fatal(err)
	}
	if sent := w.receiver.body(home(3)); made.Body != sent || made.BodySource != "REBUILT" {
		p.t.Errorf("%s body is\n%s\nbut the receiver got\n%s", made.BodySource, made.Body, sent)
	}
	p.find(list[0].ID)
	p.sees("h1", list[0].ID)
	p.click("button", "Show the request")
	p.shows(".request", "POST "+w.receiver.url)
	p.shows(".request", "Webhook-Signature: v1,")
	p.shows(".request", `"homeId": "`+home(3)+`"`)
	p.shows(".request", "it is as it was sent")
	p.sees(".request button", "Copy as curl")
	p.look("request")
}

// find types a text into the search box.
func (p *tab) find(text string) {
	p.t.Helper()
	p.clickOn(`t.all("#banner input[type=search]")[0]`)
	ask[bool](p, `(document.activeElement.value = `+js(text)+`, true)`)
	p.press(enterKey)
}

// findsObjects opens a home, a device and a list of homes by the search box.
func (p *tab) findsObjects() {
	p.t.Helper()
	p.find("thermostat-3")
	p.sees("h1", "thermostat-3")
	p.shows("dd", "Hallway")
	p.look("device")
	p.find(home(3))
	p.sees("h1", home(3))
	p.find("home_000")
	p.sees("h1", "Homes")
	p.until(`t.all("tbody").length === 10`)
	p.find("nothing of anybody")
	p.sees("p", "No such home.")
}

// readsPlans opens a plan with the curve of a home on it.
func (p *tab) readsPlans(w *world, day string) {
	p.t.Helper()
	p.click("nav a", "Plans")
	p.look("plans")
	p.click("td a", plan(p.t).ID)
	tariff, err := urdb.Parse(plan(p.t).URDB)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, v := range tariff.Versions() {
		p.sees("td", v.Info().EffectiveFrom.String())
		p.sees("td", v.Info().Source)
	}
	p.until(`t.all(".plot path.line.import").length === 1`)
	p.set("From local midnight in "+zone+" of", day)
	p.until(`location.hash.includes("day=` + day + `")`)
	p.until(`t.all(".plot path.line.import").length === 1`)
	p.look("plan")
	p.open(w.Admin + "/console/#/homes/" + home(3))
	p.sees("h2", "Onboarding")
	p.enter("Compare with the plans", plan(p.t).ID)
	p.click("button", "Calculate the bill")
	p.sees("td", plan(p.t).ID)
	p.look("bill")
}

// usesTools compares two days and checks a zipcode.
func (p *tab) usesTools(day string) {
	p.t.Helper()
	p.click("nav a", "Tools")
	p.enter("First home", home(3))
	p.set("Second day", day)
	p.click("button", "Compare")
	p.until(`t.all(".plot path.line.import").length === 2`)
	p.enter("Zipcode", "94110")
	p.click("button", "Check")
	p.sees("dt", "Supported")
	p.look("tools")
}

// usesChannels adds a notification channel, tests it and deletes it.
func (p *tab) usesChannels(w *world) {
	p.t.Helper()
	p.click("nav a", "Channels")
	p.sees("p", "No notification channels yet. …")
	p.click("button", "Add channel")
	p.set("Kind", "SLACK")
	p.enter("Address", "nowhere")
	p.look("channel-new")
	p.click("button", "Create")
	p.until(`t.field("Address").getAttribute("aria-invalid") === "true"`)
	p.enter("Address", w.receiver.url+"/services/secret")
	p.click("button", "Create")
	p.shows("td", "Slack")
	p.shows("td", "Nothing sent yet")
	if p.has("td", w.receiver.url+"/services/secret") {
		p.t.Error("the channel's secret is shown")
	}
	p.click("td button", "Test ch_…")
	p.until(`document.getElementById("spoken").textContent.startsWith("The receiver accepted the test message")`)
	p.look("channels")
	p.click("td button", "Edit ch_…")
	p.enter("Description", "the night shift")
	p.click("label", "An endpoint recovered")
	p.click("label", "Enabled")
	p.look("channel-edit")
	p.click("button", "Save")
	p.shows("td", "the night shift")
	p.shows("td", "An endpoint recovered")
	p.shows("td", "Disabled")
	p.click("td button", "Delete ch_…")
	p.click("dialog button", "Delete")
	p.sees("p", "No notification channels yet. …")
}

// usesKeys creates a key and revokes it.
func (p *tab) usesKeys() {
	p.t.Helper()
	p.click("nav a", "Keys")
	p.click("button", "Create key")
	p.enter("Expires after (days)", "30")
	p.click("button", "Create")
	p.until(`t.field("API key").value.startsWith("ghk_")`)
	p.click("button", "I have stored it")
	p.shows("td", "Live")
	p.look("keys")
	p.click("td button", "Revoke key_…")
	p.click("dialog button", "Revoke")
	p.shows("td", "Revoked")
}

// readsAudit finds the revocation of a key in the audit log.
func (p *tab) readsAudit() {
	p.t.Helper()
	p.click("nav a", "Audit log")
	p.sees("td", "createKey")
	p.look("audit")
	p.set("Operation", "revokeKey")
	p.until(`t.all("tbody").length === 1`)
	p.sees("td", "revokeKey")
}

// savesFiles saves the homes of all pages as CSV.
func (p *tab) savesFiles() {
	p.t.Helper()
	ask[bool](p, `(globalThis.saved = [], URL.createObjectURL = (blob) => { saved.push(blob); return "#saved" }, HTMLAnchorElement.prototype.click = () => {}, true)`)
	p.click("nav a", "Homes")
	p.click("button", "Homes as CSV")
	p.until(`saved.length === 1`)
	text := ask[string](p, `saved[0].text()`)
	if lines := strings.Split(strings.TrimSpace(text), "\r\n"); len(lines) != homes+1 || !strings.Contains(lines[0], "ratePlanId") {
		p.t.Errorf("the file has %d lines, first %q", len(lines), lines[0])
	}
}

// deletesOrganization deletes another organization after typing its name.
func (p *tab) deletesOrganization() {
	p.t.Helper()
	p.click("button", "Change the organization")
	p.sees("td", "Somebody Else")
	p.click("td button", "Delete "+other)
	p.enter("Type "+other+" to confirm", "othe")
	if ask[string](p, `t.all("dialog button", "Delete")[0].getAttribute("aria-disabled")`) != "true" {
		p.t.Error("the deletion is offered before the name is typed")
	}
	p.enter("Type "+other+" to confirm", other)
	p.look("organization-delete")
	p.click("dialog button", "Delete")
	p.until(`t.all("td", "Somebody Else").length === 0`)
}

// TestPartner_Link opens a console link, which leaves no key in the address and ends when
// it is revoked.
func TestPartner_Link(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	w := newWorld(t)
	var made struct{ KeyID, Path string }
	if err := json.Unmarshal([]byte(w.command("console", "link", "--org", organization, "--lifetime", "15m", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	p.open(w.API + made.Path)
	p.sees("h1", "Overview")
	p.shows(".organization", made.KeyID)
	if address := ask[string](p, `location.href`); strings.Contains(address, "ghk_") {
		t.Errorf("the address is %s", address)
	}
	if p.has("nav a", "Keys") {
		t.Error("a partner sees the operator's views")
	}
	w.command("console", "revoke", made.KeyID, "--org", organization)
	p.sees(".notice", "The key is no longer valid. Sign in with another.")
	p.open(w.API + "/console/?again" + strings.TrimPrefix(made.Path, "/console/"))
	p.sees(".notice", "The link is not valid: …")
	p.look("link-ended")
	for where, shown := range map[string]string{
		w.API + "/console/?damaged" + strings.TrimPrefix(made.Path, "/console/") + ".": "The link is not valid: …",
		w.Admin + made.Path: "The link opens the partners' console. …",
	} {
		p.open(where)
		p.sees(".notice", shown)
		if address := ask[string](p, `location.href`); strings.Contains(address, "ghk_") {
			t.Errorf("the address is %s", address)
		}
	}
}
