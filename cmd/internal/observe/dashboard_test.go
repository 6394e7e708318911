package observe

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
)

var dashboardFile = filepath.Join(deploy, "grafana/dashboards/gridhook.json")

// panel is the part of a dashboard's panel that the tests read.
type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ H, W, X, Y int }
	Targets []struct{ Expr string }
}

func panels(t *testing.T) []panel {
	t.Helper()
	var dashboard struct{ Panels []panel }
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &dashboard); err != nil {
		t.Fatal(err)
	}
	if len(dashboard.Panels) == 0 {
		t.Fatal("the dashboard has no panels")
	}
	return dashboard.Panels
}

// TestDashboard_Layout checks that every panel has its own place and title.
func TestDashboard_Layout(t *testing.T) {
	type cell struct{ x, y int }
	taken, titles, ids := map[cell]string{}, map[string]bool{}, map[int]bool{}
	section := ""
	for _, p := range panels(t) {
		if p.Type == "row" {
			section = p.Title
		}
		if title := section + "/" + p.Title; titles[title] || p.Title == "" || ids[p.ID] {
			t.Errorf("the title %q or the id %d is taken or empty", p.Title, p.ID)
		} else {
			titles[title], ids[p.ID] = true, true
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s shows nothing", p.Title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[cell{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies on %s or outside", p.Title, other)
				}
				taken[cell{x, y}] = p.Title
			}
		}
	}
}

// TestDashboard_Queries runs every query of the dashboard against a Prometheus that has scraped a
// real run.
func TestDashboard_Queries(t *testing.T) {
	tool(t, "prometheus") // or skip before anything starts
	serve := start(t, "serve", t.TempDir())
	w := newWorld(t, serve)
	w.organization("acme", 200, answering(t, 204))
	p := scraping(t, 250*time.Millisecond, rules(t), metricsAddress(serve))

	// Rates need continuous work, with requests to both listeners.
	public := &client.Client{BaseURL: serve.API}
	key, err := w.operator.CreateKey(t.Context(), client.NewKey{OrganizationID: "acme"})
	w.must(err)
	public.Key = key.Text
	for range 3 {
		w.trigger("acme")
		_, err := public.PriceSignal(t.Context(), "home_000001", client.Window{})
		w.must(err)
		before, err := p.query(`sum(gridhook_deliveries_total{outcome="DELIVERED"})`)
		w.must(err)
		want := 200.0
		if len(before) > 0 {
			want += before[0].value
		}
		if !eventually(t, func() bool {
			now, err := p.query(`sum(gridhook_deliveries_total{outcome="DELIVERED"})`)
			w.must(err)
			return len(now) > 0 && now[0].value >= want
		}) {
			t.Fatalf("%v deliveries were not counted", want)
		}
	}
	replace := strings.NewReplacer("$__rate_interval", "1m", "$job", "gridhook")
	queries := 0
	for _, panel := range panels(t) {
		for _, target := range panel.Targets {
			queries++
			if expr := replace.Replace(target.Expr); !p.awaits(expr) {
				t.Errorf("%s: no data from %s", panel.Title, expr)
			}
		}
	}
	t.Logf("%d queries returned data", queries)
}
