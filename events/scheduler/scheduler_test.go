package scheduler

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

const minute = time.Minute

func (w *world) expect(what string, want ...time.Duration) {
	w.t.Helper()
	if got := w.runs(); !slices.Equal(got, want) {
		w.t.Errorf("%s: runs at %v, want %v", what, got, want)
	}
}

func TestScheduler_RunOncePerFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		stop := w.fleet(3)
		pass(16 * minute)
		w.expect("the first", 15*minute)
		tr := w.triggers.at(0)
		if tr.ScheduleID != "sch" || tr.OrganizationID != "org" || tr.Homes != 2 || tr.Revision != w.store.Revision() ||
			!tr.Start.Equal(began.Add(15*minute)) || tr.End.Sub(tr.Start.Time) != 24*time.Hour {
			t.Errorf("the trigger is %+v", tr)
		}
		pass(30 * minute)
		w.expect("two more", 15*minute, 30*minute, 45*minute)
		stop()
	})
}

// A clock that was ahead while a run was due does not stop the schedule.
func TestScheduler_ClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		stop := w.fleet(1)
		defer stop()
		pass(16 * minute)
		w.ahead.Store(int64(365 * 24 * time.Hour))
		pass(16 * minute)
		w.ahead.Store(0)
		w.forget()
		pass(24 * time.Hour)
		if runs := w.runs(); len(runs) < 95 {
			t.Errorf("%d runs in a day, want one each quarter hour: %v", len(runs), runs)
		}
	})
}

// Processes whose clocks differ by seconds or by less than an hour make each hourly run once.
func TestScheduler_ClocksDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var log bytes.Buffer
		w.logger = slog.New(slog.NewTextHandler(&log, nil))
		w.create(schedule(60))
		first := w.fleet(1)
		pass(time.Second) // then the others search a second after a run
		w.skew = -2 * time.Second
		second := w.fleet(1)
		w.skew = -20 * minute
		third := w.fleet(1)
		pass(24 * time.Hour)
		for _, stop := range []func(){first, second, third} {
			stop()
		}
		if runs := w.runs(); len(runs) != 24 || strings.Count(log.String(), "run accepted") != 24 || strings.Contains(log.String(), "replaced") {
			t.Errorf("%d runs in a day, want one each hour: %v\n%s", len(runs), runs, &log)
		}
	})
}

func TestScheduler_MissedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		stop := w.fleet(2)
		pass(16 * minute)
		stop()
		pass(51 * minute) // no process runs from 0:16 to 1:07
		stop = w.fleet(2)
		pass(2 * minute)
		w.expect("after the pause", 15*minute, 67*minute)
		if start := w.triggers.at(1).Start; !start.Equal(began.Add(60 * minute)) {
			t.Errorf("the missed run has the time %s, want the current quarter hour", start)
		}
		pass(15 * minute)
		w.expect("and then as ever", 15*minute, 67*minute, 75*minute)
		stop()
	})
}

// The schedules of a suspended organization do not run. After the resumption they run as
// before, without the missed runs.
func TestScheduler_SuspendedOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		stop := w.fleet(2)
		pass(16 * minute)
		w.suspend(true)
		pass(30 * minute)
		w.expect("while it is suspended", 15*minute)
		w.suspend(false)
		pass(15 * minute)
		w.expect("resumed", 15*minute, 60*minute)
		stop()
	})
}

// A run beyond the organization's quota is skipped and counted, with a line in the log. A change of
// prices is sent once the organization is below the quota.
func TestScheduler_Quota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		timed := schedule(15)
		timed.ID = "timed"
		w.create(timed)
		var log bytes.Buffer
		w.logger = slog.New(slog.NewTextHandler(&log, nil))
		full := true
		w.triggers.fail = func(what string) error {
			if full && what == "accept" {
				return &events.QuotaError{Org: "org", Setting: "max-waiting", Used: 2, Max: 2}
			}
			return nil
		}
		stop := w.fleet(1)
		pass(minute)
		w.peak("p")
		pass(45 * minute)
		if got := w.triggered(); got != "" {
			t.Errorf("beyond the quota: triggers %q", got)
		}
		w.triggers.mu.Lock()
		full = false
		w.triggers.mu.Unlock()
		pass(minute)
		if got := w.triggered(); got != "p of 2" {
			t.Errorf("below the quota: triggers %q", got)
		}
		pass(15 * minute)
		if got := w.triggered(); got != " of 5" {
			t.Errorf("the next timed run: triggers %q", got)
		}
		stop()
		for schedule, want := range map[string]int{"timed": 3, "sch": 45} { // the prices once a minute
			if n := strings.Count(log.String(), `"schedule run skipped, organization has reached a limit" schedule=`+schedule+" org=org limit=max-waiting"); n != want {
				t.Errorf("%d runs of %s are logged as skipped, want %d:\n%s", n, schedule, want, &log)
			}
		}
		families, err := w.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counted := map[string]float64{}
		for _, f := range families {
			counted[f.GetName()] = f.GetMetric()[0].GetCounter().GetValue()
		}
		if want := map[string]float64{"gridhook_schedule_runs_total": 2, "gridhook_schedule_runs_skipped_total": 3 + 45}; !maps.Equal(counted, want) {
			t.Errorf("the metrics are %v, want %v", counted, want)
		}
	})
}

// A change takes effect with the next run, however soon that is: the pending run of the schedule
// before the change is not made.
func TestScheduler_ChangeJustBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		defer w.fleet(2)()
		pass(15*minute - time.Second)
		w.change("sch", func(s *storage.Schedule) { s.EveryMinutes = 60 })
		pass(50 * minute)
		w.expect("less often", 60*minute)
	})
}

func TestScheduler_ChangeBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		defer w.fleet(2)()
		pass(20 * minute)
		w.change("sch", func(s *storage.Schedule) { s.EveryMinutes = 60 })
		pass(50 * minute)
		w.expect("less often", 15*minute, 60*minute)
		w.change("sch", func(s *storage.Schedule) { s.EveryMinutes, s.Cron, s.Timezone = 0, "30 6 * * *", "Asia/Kathmandu" }) // 0:45 UTC
		pass(24 * time.Hour)
		w.expect("daily", 15*minute, 60*minute, 24*60*minute+45*minute)
		w.change("sch", func(s *storage.Schedule) { s.Enabled = false })
		pass(24 * time.Hour)
		w.change("sch", func(s *storage.Schedule) { s.Enabled, s.EveryMinutes, s.Cron = true, 1440, "" })
		w.forget()
		pass(24 * time.Hour)
		w.expect("on again", 3*24*60*minute)
		if err := w.store.Delete(t.Context(), storage.KindSchedule.Ref("org", "sch")); err != nil {
			t.Fatal(err)
		}
		pass(24 * time.Hour)
		w.expect("deleted", 3*24*60*minute)
		if left, _ := w.tasks.Tasks(t.Context(), events.TaskSchedule); len(left) != 0 {
			t.Errorf("%v still wait", left)
		}
	})
}

// A run that was due before a change is made, also by a process that starts after the
// change. A pause is the exception.
func TestScheduler_ChangeKeepsDueRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(60))
		pass(70 * minute)
		w.change("sch", func(s *storage.Schedule) { s.Description = "the same rule" })
		stop := w.fleet(2)
		pass(minute)
		w.expect("made up", 70*minute)
		pass(50 * minute)
		w.expect("and on", 70*minute, 120*minute)
		stop()
		pass(60 * minute)
		w.change("sch", func(s *storage.Schedule) { s.Enabled = false })
		defer w.fleet(2)()
		pass(minute)
		w.expect("paused", 70*minute, 120*minute)
	})
}

// A schedule whose first run was not queued, because its API process crashed, is found.
func TestScheduler_FindsLostSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := schedule(15)
		if err := w.store.Create(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		defer w.fleet(2)()
		pass(16 * minute)
		w.expect("found", 15*minute)
		w.tasks.mu.Lock()
		clear(w.tasks.waiting) // the queue is lost
		w.tasks.mu.Unlock()
		pass(45 * minute)
		w.expect("found again", 15*minute, 30*minute, 45*minute, 60*minute)
	})
}

// A schedule whose record does not decode stops no other schedule.
func TestScheduler_DamagedRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		damage(t, w.log, storage.KindSchedule.Ref("org", "a"))
		s, prices := schedule(15), schedule(0)
		prices.ID, prices.OnPriceChange = "zz", true
		for _, s := range []storage.Schedule{s, prices} {
			if err := w.store.Create(t.Context(), &s); err != nil {
				t.Fatal(err)
			}
		}
		defer w.fleet(1)()
		pass(31 * minute)
		w.expect("the other", 15*minute, 30*minute)
	})
}

// The due run of a schedule whose record no longer decodes is dropped, not redelivered for ever.
func TestScheduler_DamagedBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		damage(t, w.log, storage.KindSchedule.Ref("org", "sch"))
		pass(15 * minute)
		due, _, _, _ := w.tasks.take()
		s := New(Deps{Store: w.store, Tasks: w.tasks, Log: w.logger, Registerer: prometheus.NewRegistry(), Now: w.now})
		if err := s.handle(t.Context(), due, events.Taken{}); due.ID != "sch" || err != nil {
			t.Errorf("run of %q ends with %v", due.ID, err)
		}
	})
}

// A due run of an organization whose record does not decode is skipped. Its task is not redelivered
// beside the next ones for ever.
func TestScheduler_RunOfDamagedOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		storagetest.Put(t, w.store, &storage.Organization{ID: "org", Name: "Org", Base: storage.Base{OrganizationID: storage.Shared}})
		w.create(schedule(15))
		damage(t, w.log, storage.OrganizationRef("org"))
		pass(15 * minute)
		due, _, _, _ := w.tasks.take()
		s := New(Deps{Store: w.store, Tasks: w.tasks, Log: w.logger, Registerer: prometheus.NewRegistry(), Now: w.now})
		if err := s.handle(t.Context(), due, events.Taken{}); due.ID != "sch" || err != nil {
			t.Errorf("run of %q ends with %v", due.ID, err)
		}
	})
}

// damage stores a record that does not decode.
func damage(t *testing.T, log *storagetest.Log, ref storage.Ref) {
	t.Helper()
	was, err := log.Read(t.Context(), ref)
	if err == nil {
		_, err = log.Append(t.Context(), storage.Write{Ref: ref, Expect: was.Revision, At: time.Now(), Value: []byte(`{"id":7}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An organization whose record does not decode keeps no other organization from its runs and
// notifications.
func TestScheduler_DamagedOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		s := onPriceChange()
		s.OrganizationID = "other"
		w.put(&s)
		w.subscribe(storage.OpenADRProgram)
		defer w.fleet(1)()
		pass(minute)
		damage(t, w.log, storage.OrganizationRef("other"))
		pass(minute)
		w.forget()
		w.put(storagetest.RatePlan("org", "p", 0.2))
		pass(2 * minute)
		if runs, operations := w.runs(), w.operations("p"); len(runs) != 2 || !slices.Equal(operations, []string{events.OperationUpdate}) {
			t.Errorf("%d triggers, with the notifications %q", len(runs), operations)
		}
	})
}

// With any fault, before or after an effect, and any number of process restarts: no run
// is made twice, and no run is skipped while a process runs.
func TestScheduler_ExactlyOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		every := rapid.SampledFrom([]int{5, 15, 60}).Draw(rt, "every")
		faults := map[string]int{}
		for _, what := range []string{"put", "put, unanswered", "accept", "accept, unanswered", "acknowledge"} {
			faults[what] = rapid.IntRange(0, 3).Draw(rt, what)
		}
		type phase struct {
			processes int
			lasting   time.Duration
		}
		var phases []phase
		for range rapid.IntRange(1, 5).Draw(rt, "phases") {
			phases = append(phases, phase{rapid.IntRange(0, 3).Draw(rt, "processes"), time.Duration(rapid.IntRange(1, 100).Draw(rt, "minutes")) * minute})
		}
		problem := ""
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var mu sync.Mutex
			fail := func(what string) error {
				mu.Lock()
				defer mu.Unlock()
				if faults[what] > 0 && time.Now().After(began.Add(time.Second)) {
					faults[what]--
					return fmt.Errorf("%s: %w", what, errInjected)
				}
				return nil
			}
			w.tasks.fail, w.triggers.fail = fail, fail
			w.create(schedule(every))
			period, covered := time.Duration(every)*minute, map[time.Duration]bool{}
			for _, p := range phases {
				from := time.Now()
				stop := w.fleet(p.processes)
				pass(p.lasting)
				stop()
				if p.processes > 0 { // a minute is enough for every fault
					for run := from.Sub(began).Truncate(minute) + minute; run < time.Since(began)-minute; run += minute {
						covered[run] = run%period == 0
					}
				}
			}
			made := map[time.Duration]int{}
			for _, run := range w.runs() {
				made[run]++
			}
			for run, wanted := range covered {
				if wanted && made[run] != 1 {
					problem = fmt.Sprintf("the run at %s was made %d times; runs were at %v", run, made[run], w.runs())
				}
			}
			for run, n := range made { // a late run comes at another time, but once
				if n > 1 && run%period != 0 {
					problem = fmt.Sprintf("%d runs were made at %s", n, run)
				}
			}
		})
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func TestScheduler_StaleTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(schedule(15))
		var old events.Task
		for _, task := range w.tasks.waiting {
			old = task
		}
		pass(minute)
		w.change("sch", func(s *storage.Schedule) { s.EveryMinutes = 60 })
		old.DueAt = storage.Time{Time: time.Now().Add(5 * minute)}
		if err := w.tasks.PutTask(context.Background(), old); err != nil {
			t.Fatal(err)
		}
		defer w.fleet(1)()
		pass(62 * minute)
		w.expect("the new rule alone", 60*minute)
	})
}
