package observe

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

// marketServer publishes the hourly prices of three days until an end. It drops connections
// without a response while the end is zero.
type marketServer struct{ end atomic.Int64 }

func (m *marketServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	end := m.end.Load()
	if end == 0 {
		panic(http.ErrAbortHandler)
	}
	_, _ = fmt.Fprintln(w, "start,price_usd_mwh")
	for hour := 72; hour > 0; hour-- {
		at := time.Unix(end, 0).Add(-time.Duration(hour) * time.Hour)
		_, _ = fmt.Fprintf(w, "%s,%d\n", at.UTC().Format(time.RFC3339), 40+at.Hour())
	}
}

// TestAlerts_Source has a source that stops answering. Signals for the hours that it does
// not publish have a lower confidence and the time of the last price, the alert fires, and
// both recover when the source answers again. The source runs every minute, the shortest
// interval. So the test takes some minutes.
func TestAlerts_Source(t *testing.T) {
	tool(t, "prometheus")
	t.Parallel()
	m := &marketServer{}
	published := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	m.end.Store(published.Unix())
	operator := httptest.NewServer(m)
	t.Cleanup(operator.Close)
	w := newWorld(t, start(t, "serve", t.TempDir()))
	_, err := w.operator.CreateSource(t.Context(), client.NewSource{
		ID: "hub", Adapter: "csv", URL: operator.URL, Parameters: map[string]string{"node": "HUB"}, EverySeconds: 60, PlanID: "hub",
	})
	w.must(err)
	source := func() client.Source {
		s, err := w.operator.GetSource(t.Context(), "", "hub")
		w.must(err)
		return s
	}
	if !eventually(t, func() bool { return len(source().Runs) > 0 }) || source().Runs[0].Outcome != storage.SourceStored {
		t.Fatalf("the first run: %+v", source())
	}
	m.end.Store(0)
	w.organization("acme", 0, client.EndpointFields{})
	w.homes("acme", 1, "hub")
	// signal returns the confidence and the source of the home's prices from some hours on.
	signal := func(from time.Time, hours int) (confidence float64, source string) {
		window := client.Window{StartTime: &storage.Time{Time: from}, EndTime: &storage.Time{Time: from.Add(time.Duration(hours) * time.Hour)}}
		s, err := w.operator.For("acme").PriceSignal(t.Context(), "home_000000", window)
		w.must(err)
		confidence = 1
		for _, i := range s.Data {
			confidence = min(confidence, i.Confidence)
		}
		return confidence, s.Metadata.ImportSource
	}
	if confidence, source := signal(published.Add(-6*time.Hour), 6); confidence != 1 || strings.Contains(source, "forecast") {
		t.Errorf("the published hours have the confidence %v, from %s", confidence, source)
	}

	p := scraping(t, scrapeEvery, hurried(rules(t)), metricsAddress(w.main))
	if !p.awaits(`gridhook_sources_late == 0 unless on() ` + firing("GridhookSourceStale")) {
		t.Error("the source is late before it fails")
	}
	p.fires("GridhookSourceStale")
	if s := source(); !s.Late || s.Failures == 0 || s.Runs[0].Outcome != storage.SourceFailed {
		t.Errorf("while the alert fires: %+v", s)
	}
	ends := "forecast: the prices of HUB end at " + published.Format(time.RFC3339)
	if confidence, source := signal(published, 6); confidence >= 1 || !strings.Contains(source, ends) {
		t.Errorf("the hours after the last price have the confidence %v, from %s", confidence, source)
	}

	m.end.Store(published.Add(6 * time.Hour).Unix())
	began := time.Now()
	if !p.awaits(`gridhook_sources_late == 0 unless on() ` + firing("GridhookSourceStale")) {
		t.Error("the alert does not end")
	}
	t.Logf("the alert ends %s after the source answers again", time.Since(began).Round(time.Second))
	if s := source(); s.Late || s.Failures != 0 || s.Runs[0].Outcome == storage.SourceFailed {
		t.Errorf("after the recovery: %+v", s)
	}
	if confidence, source := signal(published, 6); confidence != 1 || strings.Contains(source, "forecast") {
		t.Errorf("after the recovery the confidence is %v, from %s", confidence, source)
	}
}
