package dispatcher

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/dispatcher/walks"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage/signals"
)

// With any cursor, a slice reads the homes after it: only of the trigger's organization,
// in order, without duplicates, and at most a slice's number, or those through its end. The
// walk continues after the last home.
func FuzzReadHomes_Cursor(f *testing.F) {
	w := newWorld(f)
	f.Cleanup(w.end)
	const homes = 2*events.SliceHomes + 5
	w.homes(homes)
	w.neighbor(3)
	w.endpoint("ep")
	worker := New(Deps{
		Bus: &busConn{bus: w.bus}, Store: w.store, Pricer: signals.NewPricer(100), Vault: w.vault,
		Log: w.logger, Registerer: prometheus.NewRegistry(), Now: time.Now,
	}, w.options)
	tr := w.trigger(24)
	for _, after := range []string{"", homeID(0), homeID(events.SliceHomes), homeID(homes), "home_", "zzz", "\x00", "..", "neighbor"} {
		for _, through := range []string{"", after + "/without homes", homeID(events.SliceHomes + 9), "zzzz"} {
			text, err := json.Marshal(events.Slice{Trigger: tr, Sequence: 1, Number: 1, After: after, Through: through, Resumed: through != ""})
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte(`{"trigger":{"triggerId":"trg_1","organizationId":"org","endTime":"2026-11-23T07:30:00.000Z","homes":133,"revision":141},"sequence":1}`)) // a window from the year 1
	f.Fuzz(func(t *testing.T, text []byte) {
		var s events.Slice
		if json.Unmarshal(text, &s) != nil || s.Check() != nil {
			t.Skip("the queue drops the slice")
		}
		read, err := worker.readHomes(&s)
		if err != nil {
			return
		}
		last := s.After
		for _, h := range read.homes {
			if h.Org != s.Trigger.OrganizationID || h.ID <= last {
				t.Fatalf("home %s of %s follows %q", h.ID, h.Org, last)
			}
			last = h.ID
		}
		if s.Through == "" && len(read.homes) > s.Trigger.SliceHomes() || len(read.ahead) > puts(&s) {
			t.Fatalf("%d homes, and %d slices ahead", len(read.homes), len(read.ahead))
		}
		if s.Through != "" && (read.bounds.Through != s.Through || read.bounds.Last || len(read.homes) > 0 && last > s.Through) {
			t.Fatalf("slice through %q has the bounds %+v and ends with %q", s.Through, read.bounds, last)
		}
		if len(read.ahead) > 0 && read.ahead[0] != read.bounds.Through {
			t.Fatalf("next slice begins after %q, this slice ends with %q", read.ahead[0], read.bounds.Through)
		}
		to, err := worker.admit(t.Context(), walks.Place{Trigger: &s.Trigger}, events.Taken{Free: func() {}})
		if err != nil {
			return
		}
		jobs, _, err := worker.price(&s, &read, to, walks.Place{Trigger: &s.Trigger})
		if err != nil || len(jobs) > len(read.homes) {
			t.Fatalf("%d jobs for %d homes: %v", len(jobs), len(read.homes), err)
		}
	})
}
