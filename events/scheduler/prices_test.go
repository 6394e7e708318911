package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// priceWorld has two homes on the plan p. It has one home each on a shared plan, on a
// plan that follows a market, and with exports to a market.
func priceWorld(t *testing.T) *world {
	w := newWorld(t)
	sells := storagetest.Home("org", "h5", "flat")
	sells.EnergyMarketBiddingEnabled = true
	storagetest.Put(t, w.store, storagetest.RatePlan("org", "p", 0.1), storagetest.RatePlan("org", "idle", 0.1), storagetest.RatePlan("org", "flat", 0.1),
		storagetest.RatePlan(storage.Shared, "shared", 0.1), storagetest.RatePlan(storage.Shared, "p", 0.1), hourly(),
		&storage.Organization{ID: "other", Name: "Other"}, storagetest.RatePlan("other", "shared", 0.1),
		storagetest.Home("org", "h3", "shared"), storagetest.Home("org", "h4", "hourly"), sells,
		&storage.HomeMarket{HomeID: "h5", Node: "HUB", Market: market.RealTime, Base: storage.Base{OrganizationID: "org"}})
	w.addHours("COMED")
	w.addHours("HUB")
	w.create(onPriceChange())
	return w
}

func onPriceChange() storage.Schedule {
	s := schedule(0)
	s.OnPriceChange = true
	return s
}

func hourly() *storage.RatePlan {
	p := &storage.RatePlan{ID: "hourly", Tariff: json.RawMessage(
		`{"name":"Hourly","energyratestructure":[[{"rate":0.05,"unit":"kWh"}]],"market":{"node":"COMED","market":"REAL_TIME"}}`)}
	p.OrganizationID = "org"
	return p
}

// addHours adds a day of prices to a shared series, different at each call.
func (w *world) addHours(node string) {
	w.t.Helper()
	w.addHoursFrom(node, time.Now().Truncate(time.Hour), 24)
}

func (w *world) addHoursFrom(node string, start time.Time, hours int) {
	w.t.Helper()
	prices := slices.Repeat([]float64{float64(w.store.Revision()) / 1000}, hours)
	m := storage.MarketSeries{Node: node, Market: market.RealTime, Timezone: "America/Chicago", Base: storage.Base{OrganizationID: storage.Shared}}
	if _, err := w.store.AddPrices(w.t.Context(), m, []storage.PricesPart{{Start: start, Prices: prices}}); err != nil {
		w.t.Fatal(err)
	}
}

// live places a home in California, and waits.
func (w *world) live(id string, intensity storage.CarbonSignalIntensity) {
	w.t.Helper()
	h, err := storage.Get[storage.Home](w.store, storage.KindHome.Ref("org", id))
	if err != nil {
		w.t.Fatal(err)
	}
	h.Zipcode, h.CarbonSignalIntensity = "94103", intensity
	w.put(&h)
	pass(minute)
}

// receiveEvents adds an endpoint for OpenADR events with a least change of the price, 0 for
// none.
func (w *world) receiveEvents(minPriceChange float64) {
	w.t.Helper()
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL, e.Format, e.MinPriceChange = "adr", "https://acme.example", storage.FormatOpenADR3, minPriceChange
	if minPriceChange > 0 {
		e.DeliveryMode = storage.DeliverOnChange
	}
	e.Secrets = []storage.SealedSecret{{Sealed: "sealed"}}
	w.put(&e)
}

// emit publishes emissions of a grid region for the present day.
func (w *world) emit(region string) {
	w.t.Helper()
	m := storage.MarketSeries{Node: region, Market: market.Emissions, Base: storage.Base{OrganizationID: storage.Shared}}
	part := storage.PricesPart{Start: time.Now().Truncate(time.Hour), Prices: slices.Repeat([]float64{0.3}, 24)}
	if _, err := w.store.AddPrices(w.t.Context(), m, []storage.PricesPart{part}); err != nil {
		w.t.Fatal(err)
	}
}

// spoil replaces a record with one that does not decode.
func (w *world) spoil(ref storage.Ref) {
	w.t.Helper()
	var r storage.Record
	err := w.store.View(func(v storage.View) (err error) {
		r, err = v.Get(ref)
		return err
	})
	if err == nil {
		_, err = w.log.Append(w.t.Context(), storage.Write{Ref: ref, Expect: r.Revision, First: r.First, At: time.Now(), Value: []byte("{")})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(e storage.Entity) {
	w.t.Helper()
	storagetest.Put(w.t, w.store, e)
}

// peak creates a critical peak for the homes on one of the organization's plans.
func (w *world) peak(plan string) {
	price := float64(w.store.Revision())/1000 + 1
	from := storage.Time{Time: time.Now().Add(time.Hour)}
	e := storage.PlanEvent{Kind: pricing.CriticalPeak, From: from, To: storage.Time{Time: from.Add(time.Hour)}, Price: &price}
	e.SetDefaults()
	w.put(&storage.PlanEvents{PlanID: plan, Events: []storage.PlanEvent{e}, Base: storage.Base{OrganizationID: "org"}})
}

// compose adds a home on a plan of the parts p and idle, and waits for its trigger.
func (w *world) compose() {
	composed := &storage.RatePlan{ID: "composed", Base: storage.Base{OrganizationID: "org"}, Parts: []pricing.PlanPart{
		{PlanID: "p", Role: pricing.RoleDelivery}, {PlanID: "idle", Role: pricing.RoleGeneration},
	}}
	storagetest.Put(w.t, w.store, composed, storagetest.Home("org", "h6", "composed"))
	pass(minute)
	if got := w.triggered(); got != "composed of 1" {
		w.t.Errorf("a new plan triggers %q", got)
	}
}

// triggered returns the plans and homes of the triggers since the last call.
func (w *world) triggered() string {
	w.triggers.mu.Lock()
	defer w.triggers.mu.Unlock()
	var list []string
	for _, t := range w.triggers.list[w.asked:] {
		list = append(list, fmt.Sprintf("%s of %d", strings.Join(t.RatePlanIDs, "+"), t.Homes))
	}
	w.asked = len(w.triggers.list)
	return strings.Join(list, ", ")
}

func TestFollowPrices_AffectedHomes(t *testing.T) {
	tests := []struct {
		name   string
		change func(w *world)
		want   string
	}{
		{"the same again", func(w *world) { w.put(storagetest.RatePlan("org", "p", 0.1)) }, ""},
		{"a plan", func(w *world) { w.put(storagetest.RatePlan("org", "p", 0.2)) }, "p of 2"},
		{"a plan that all share", func(w *world) { w.put(storagetest.RatePlan(storage.Shared, "shared", 0.2)) }, "shared of 1"},
		{"a plan in whose place the organization has its own", func(w *world) { w.put(storagetest.RatePlan(storage.Shared, "p", 0.2)) }, ""},
		{"another organization's plan", func(w *world) { w.put(storagetest.RatePlan("other", "shared", 0.2)) }, ""},
		{"a plan that no home is on", func(w *world) { w.put(storagetest.RatePlan("org", "idle", 0.2)) }, ""},
		{"a home", func(w *world) { w.put(storagetest.Home("org", "h9", "p")) }, ""},
		{"a critical peak", func(w *world) { w.peak("p") }, "p of 2"},
		{"hours of a market that a plan follows", func(w *world) { w.addHours("COMED") }, "hourly of 1"},
		{"hours of a market that a home sells to", func(w *world) { w.addHours("HUB") }, "flat of 1"},
		{"emissions of a region in which a home follows carbon", func(w *world) {
			w.live("h3", storage.CarbonHigh)
			w.live("h4", storage.CarbonLow)
			w.emit("CA")
		}, "shared of 1"},
		{"emissions, with an endpoint for OpenADR events", func(w *world) {
			w.live("h4", storage.CarbonLow)
			w.receiveEvents(0)
			w.emit("CA")
		}, "hourly of 1"},
		{"emissions, with an endpoint for OpenADR events with a least change of the price", func(w *world) {
			w.live("h4", storage.CarbonLow)
			w.receiveEvents(0.01)
			w.emit("CA")
		}, ""},
		{"emissions of another region", func(w *world) {
			w.live("h3", storage.CarbonHigh)
			w.emit("TE")
		}, ""},
		{"hours of another market", func(w *world) { w.addHours("NODE") }, ""},
		{"a plan, beside a home that cannot be decoded", func(w *world) {
			w.spoil(storage.KindHome.Ref("org", "h3"))
			w.put(storagetest.RatePlan("org", "p", 0.2))
		}, "p of 2"},
		{"a part of a composed plan", func(w *world) {
			w.compose()
			w.put(storagetest.RatePlan("org", "idle", 0.2))
		}, "composed of 1"},
		{"an event of a part of a composed plan, with homes of its own", func(w *world) {
			w.compose()
			w.peak("p")
		}, "composed+p of 3"},
		{"several in a minute", func(w *world) {
			w.peak("p")
			pass(2 * time.Second)
			w.addHours("COMED")
			pass(7 * time.Second)
			w.put(storagetest.RatePlan("org", "flat", 0.3))
		}, "flat+hourly+p of 4"},
		{"changes without an end", func(w *world) {
			for range 30 { // for 90 seconds
				w.peak("p")
				pass(3 * time.Second)
			}
		}, "p of 2, p of 2"},
		{"a change while it is disabled", func(w *world) {
			w.change("sch", func(s *storage.Schedule) { s.Enabled = false })
			pass(minute)
			w.peak("p")
			pass(23 * time.Hour)
			w.change("sch", func(s *storage.Schedule) { s.Enabled = true })
		}, "p of 2"},
		{"a change a day before it is enabled", func(w *world) {
			w.change("sch", func(s *storage.Schedule) { s.Enabled = false })
			pass(minute)
			w.peak("p")
			pass(25 * time.Hour)
			w.change("sch", func(s *storage.Schedule) { s.Enabled = true })
		}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := priceWorld(t)
				defer w.fleet(2)()
				pass(minute)
				if got := w.triggered(); got != "" {
					t.Errorf("changes before the schedule trigger %s", got)
				}
				test.change(w)
				pass(minute)
				if got := w.triggered(); got != test.want {
					t.Errorf("triggers %q, want %q", got, test.want)
				}
				w.peak("flat")
				pass(minute)
				if got := w.triggered(); got != "flat of 1" {
					t.Errorf("the next change triggers %q", got)
				}
			})
		})
	}
}

// The trigger has the schedule's window and id, and the current homes.
func TestFollowPrices_Trigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		w.change("sch", func(s *storage.Schedule) { s.Window.LengthMinutes = 60 })
		defer w.fleet(1)()
		w.peak("p")
		pass(minute)
		tr := w.triggers.at(0)
		if tr.ScheduleID != "sch" || tr.IdempotencyKey != "" || tr.OrganizationID != "org" || tr.Revision != w.store.Revision() || tr.End.Sub(tr.Start.Time) != time.Hour {
			t.Errorf("the trigger is %+v", tr)
		}
	})
}

// Changed prices run no schedule of a suspended organization. After the resumption a
// recent change runs the schedule.
func TestFollowPrices_SuspendedOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		stop := w.fleet(2)
		pass(minute)
		w.suspend(true)
		w.peak("p")
		pass(10 * minute)
		if got := w.triggered(); got != "" {
			t.Errorf("suspended: triggers %q", got)
		}
		w.suspend(false)
		pass(minute)
		if got := w.triggered(); got != "p of 2" {
			t.Errorf("resumed: triggers %q, want p of 2", got)
		}
		stop()
	})
}

// Schedules whose last trigger cannot be read do not hold up another schedule.
func TestFollowPrices_UnreadableTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		for i := range 20 { // the check takes them in any order
			s := onPriceChange()
			s.ID = fmt.Sprint("broken", i)
			w.create(s)
		}
		w.triggers.fail = func(what string) error {
			if strings.HasPrefix(what, "last of broken") {
				return errors.New("it does not decode")
			}
			return nil
		}
		stop := w.fleet(1)
		pass(minute)
		w.triggered()
		w.peak("p")
		pass(2*pricesEvery + time.Second)
		if got := w.triggered(); got != "p of 2" {
			t.Errorf("triggers %q, want p of 2", got)
		}
		stop()
	})
}

// A stored window that is not valid is logged once for each change, not at each check. A
// corrected window runs the schedule.
func TestFollowPrices_InvalidWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		var log bytes.Buffer
		w.logger = slog.New(slog.NewTextHandler(&log, nil))
		w.change("sch", func(s *storage.Schedule) { s.Window.LengthMinutes = -60 })
		stop := w.fleet(1)
		for want := 1; want <= 2; want++ {
			w.peak("p")
			pass(10 * minute)
			if got := strings.Count(log.String(), "its window is not valid"); got != want {
				t.Errorf("after %d changes the log has %d lines", want, got)
			}
		}
		w.change("sch", func(s *storage.Schedule) { s.Window.LengthMinutes = 60 })
		pass(minute)
		if got := w.triggered(); got != "p of 2" {
			t.Errorf("triggers %q, want p of 2", got)
		}
		stop()
	})
}

// A change while no process runs is found, once. The next process does not repeat a run
// whose acknowledgement was lost.
func TestFollowPrices_ExactlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		stop := w.fleet(2)
		pass(minute)
		stop()
		w.peak("p")
		pass(time.Hour)
		failures := 0
		w.triggers.fail = func(what string) error {
			if what == "accept, unanswered" && failures < 2 {
				failures++
				return errInjected
			}
			return nil
		}
		stop = w.fleet(2)
		pass(minute)
		stop()
		stop = w.fleet(2)
		pass(minute)
		if got := w.triggered(); got != "p of 2" || failures != 1 {
			t.Errorf("triggers %q, after %d failures", got, failures)
		}
		w.triggers.mu.Lock()
		w.triggers.list = nil // after their retention
		w.asked = 0
		w.triggers.mu.Unlock()
		stop()
		pass(24 * time.Hour)
		stop = w.fleet(2)
		pass(minute)
		if got := w.triggered(); got != "" {
			t.Errorf("much later: triggers %q", got)
		}
		stop()
	})
}

// If very many plans have changed, all homes are triggered.
func TestFollowPrices_ManyPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		for i := range maxPlans + 1 {
			w.put(storagetest.Home("org", fmt.Sprintf("many-%d", i), fmt.Sprintf("plan-%d", i)))
		}
		defer w.fleet(1)()
		for i := range maxPlans + 1 {
			w.put(storagetest.RatePlan("org", fmt.Sprintf("plan-%d", i), 0.2))
		}
		pass(minute)
		if got, want := w.triggered(), fmt.Sprintf(" of %d", maxPlans+1+5); got != want {
			t.Errorf("triggers %q, want %q", got, want)
		}
	})
}

// The observed prices of a deleted schedule take no memory.
func TestPrices_DeletedSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := priceWorld(t)
		s := w.scheduler(0)
		for _, want := range []int{1, 0} {
			if err := s.checkPrices(t.Context()); err != nil || len(s.prices) != want {
				t.Errorf("%d observed schedules, want %d: %v", len(s.prices), want, err)
			}
			err := w.store.Delete(t.Context(), storage.KindSchedule.Ref("org", onPriceChange().ID))
			if storage.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
		}
	})
}
