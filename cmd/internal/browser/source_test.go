package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// watchesASource finds a source that fails, reads its log, and pauses and resumes it.
func (p *tab) watchesASource(w *world) {
	p.t.Helper()
	operator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "closed", http.StatusBadGateway) }))
	defer operator.Close()
	p.click("nav a", "Sources")
	p.sees("p", "No sources. Add one with gridhook source add.")
	w.command("source", "add", "--id", "hub", "--adapter", "csv", "--url", operator.URL, "--param", "node=HUB", "--plan", "hub")
	for !strings.Contains(w.command("source", "get", "hub"), "FAILED") { // each call takes its time
		p.t.Log("the first run has not failed yet")
	}
	p.set("Owner", organization)
	p.sees("p", "No sources. Add one with gridhook source add.")
	p.set("Owner", "")
	p.sees("td .badge", "Failing")
	p.click("td button", "Log hub")
	p.shows("td", fmt.Sprint(http.StatusBadGateway))
	p.look("sources")
	p.click("td button", "Pause hub")
	p.sees("td .badge", "Paused")
	p.click("td button", "Resume hub")
	p.until(`!t.all("td .badge").some((badge) => badge.textContent === "Paused")`)
}
