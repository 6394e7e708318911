package events

import (
	"strconv"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

func TestBreakers_State(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) storage.Time {
		return storage.Time{Time: noon.Add(time.Duration(seconds) * time.Second)}
	}
	open := func(worker string, since, probe int) BreakerReport {
		return BreakerReport{Worker: worker, Open: []OpenBreaker{{OrganizationID: "org", EndpointID: "ep", Since: at(since), ProbeAt: at(probe)}}}
	}
	type report struct {
		report BreakerReport
		at     int
	}
	for _, tt := range []struct {
		name    string
		reports []report
		org     string
		now     int
		want    Breaker
	}{
		{"no report", nil, "org", 0, Breaker{State: BreakerClosed}},
		{"one open breaker", []report{{open("a", 1, 30), 2}}, "org", 3, Breaker{BreakerOpen, at(1), at(30), 1}},
		{"the probe is due", []report{{open("a", 1, 3), 2}}, "org", 3, Breaker{BreakerHalfOpen, at(1), at(3), 1}},
		{"two workers, the earliest times count", []report{{open("a", 1, 30), 2}, {open("b", 0, 40), 2}}, "org", 3, Breaker{BreakerOpen, at(0), at(30), 2}},
		{"another organization's endpoint", []report{{open("a", 1, 30), 2}}, "other", 3, Breaker{State: BreakerClosed}},
		{"the breaker has closed", []report{{open("a", 1, 30), 2}, {BreakerReport{Worker: "a"}, 3}}, "org", 3, Breaker{State: BreakerClosed}},
		{"the same report again", []report{{open("a", 1, 30), 2}, {open("a", 1, 30), 3}}, "org", 3, Breaker{BreakerOpen, at(1), at(30), 1}},
		{"the worker has died", []report{{open("a", 1, 30), 2}}, "org", 8, Breaker{State: BreakerClosed}},
		{"one worker has died and another reports", []report{{open("a", 1, 30), 2}, {open("b", 2, 40), 8}}, "org", 8, Breaker{BreakerOpen, at(2), at(40), 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b Breakers
			for _, r := range tt.reports {
				b.Add(r.report, at(r.at).Time)
			}
			if got := b.State(tt.org, "ep", at(tt.now).Time); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The reports of dead workers leave the memory: each worker has a new name at each start.
func TestBreakers_DeadWorkers(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var b Breakers
	for i := range 100 {
		b.Add(BreakerReport{Worker: strconv.Itoa(i)}, noon.Add(time.Duration(i)*ReportEvery))
	}
	if n := len(b.reports); n != int(reportStands/ReportEvery)+1 {
		t.Errorf("%d reports are kept", n)
	}
}
