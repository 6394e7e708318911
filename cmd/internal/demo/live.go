package demo

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// A stand-in for a market operator publishes hourly prices. A source fetches them into a
// rate plan of its own.
const (
	liveHomes  = 10
	livePlan   = "demo-market"
	liveSource = "demo-prices"
	liveHome   = "live_"
)

// Live is the result of a live price change.
type Live struct {
	Homes int `json:"homes"`
	// Verified counts the webhooks of the homes on the plan, Others the webhooks of other
	// homes.
	Verified int `json:"verified"`
	Others   int `json:"others"`
	// Milliseconds is the time from the publication of new prices to the last webhook.
	Milliseconds float64 `json:"ms"`
}

// market is the stand-in. It serves the prices of two days as CSV.
type market struct {
	started time.Time
	base    atomic.Int64 // $/MWh
}

func (m *market) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	lines := []string{"start,price_usd_mwh"}
	first := m.started.UTC().Truncate(time.Hour).Add(-24 * time.Hour)
	for hour := range 48 {
		at := first.Add(time.Duration(hour) * time.Hour)
		lines = append(lines, fmt.Sprintf("%s,%d", at.Format(time.RFC3339), m.base.Load()+int64(at.Hour())))
	}
	w.Header().Set("Content-Type", "text/csv")
	_, _ = fmt.Fprintln(w, strings.Join(lines, "\n")) // a failed response is a failed run
}

// changePrices creates homes on a plan that a source feeds, and publishes other prices.
func (d *demonstration) changePrices(ctx context.Context) (live *Live, err error) {
	m := &market{started: time.Now()}
	m.base.Store(40)
	server := httptest.NewServer(m)
	defer server.Close()
	operator := d.box.Operator
	_, err = operator.CreateSource(ctx, client.NewSource{
		ID: liveSource, Adapter: "csv", URL: server.URL, Parameters: map[string]string{"node": "DEMO"}, EverySeconds: 3600, PlanID: livePlan,
	})
	if err != nil {
		return nil, err
	}
	err = sandbox.Poll(ctx, 50*time.Millisecond, func() (bool, error) {
		s, err := operator.GetSource(ctx, "", liveSource)
		if err == nil && len(s.Runs) > 0 && s.Runs[0].Error != "" {
			err = fmt.Errorf("the source failed: %s", s.Runs[0].Error)
		}
		return len(s.Runs) > 0, err
	})
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for i := range liveHomes {
		_, _ = fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":"%s%d","timezone":"America/Chicago","ratePlanId":%q}`+"\n", organization, liveHome, i, livePlan)
	}
	if err := sandbox.Import(ctx, operator, strings.NewReader(lines.String())); err != nil {
		return nil, err
	}
	if _, err := operator.For(organization).CreateSchedule(ctx, client.ScheduleFields{OnPriceChange: new(true)}); err != nil {
		return nil, err
	}
	d.say("a source fetches the prices of a market for %d more homes; the market now publishes other prices", liveHomes)
	before, published := d.arrivals.count(), time.Now()
	m.base.Store(60)
	if err := operator.RunSource(ctx, "", liveSource); err != nil {
		return nil, err
	}
	err = sandbox.Poll(ctx, 50*time.Millisecond, func() (bool, error) { return d.arrivals.count() >= before+liveHomes, nil })
	if err != nil {
		return nil, err
	}
	live = d.arrivals.live(before, published)
	d.say("%d webhooks with the new prices arrived in %s, and %d of other homes", live.Verified, since(published), live.Others)
	return live, nil
}

// count returns the number of webhooks so far.
func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.events)
}

// live sums up the webhooks after the first ones.
func (a *arrivals) live(first int, published time.Time) *Live {
	a.mu.Lock()
	defer a.mu.Unlock()
	live := &Live{Homes: liveHomes}
	for _, e := range a.events[first:] {
		live.Milliseconds = max(live.Milliseconds, milliseconds(e.At.Sub(published)))
		if strings.HasPrefix(e.Data.HomeID, liveHome) {
			live.Verified++
		} else {
			live.Others++
		}
	}
	return live
}
