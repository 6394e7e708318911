package ledger

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

func TestLastRun_Schedules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, path)
	run := func(id, schedule string, after time.Duration) events.Trigger {
		tr := trigger("org", id, after, 0)
		tr.ScheduleID = schedule
		return tr
	}
	accept(t, l, run("trg_1", "sch_1", 0), run("trg_2", "sch_1", time.Minute), run("trg_3", "", 2*time.Minute), run("trg_4", "sch_2", 0))
	check := func(org, schedule, want string) {
		t.Helper()
		if got, err := l.LastRun(org, schedule); err != nil || got.TriggerID != want {
			t.Errorf("last run of %s of %s is %+v, %v, want %q", schedule, org, got, err, want)
		}
	}
	check("org", "sch_1", "trg_2")
	check("org", "sch_2", "trg_4")
	check("org", "sch", "")
	check("other", "sch_1", "")
	if p := progress(t, l, trigger("org", "trg_2", 0, 0)); p.ScheduleID != "sch_1" {
		t.Errorf("progress is %+v", p)
	}
	must(t, l.Close())
	l = openLedger(t, path)
	check("org", "sch_1", "trg_2")
	must(t, l.Prune(noon.Add(time.Second)))
	check("org", "sch_1", "trg_2")
	check("org", "sch_2", "")
	must(t, l.Close())
}
