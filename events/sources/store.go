package sources

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// writer computes the change that the data of a fetch makes on a view. All of it is stored,
// or nothing.
type writer struct {
	storage.View
	store  *storage.Store
	source *storage.Source
	now    time.Time
	storage.Revised
	run storage.SourceRun
	// end is the end of the newest fetched price. series are the series of the prices.
	end    time.Time
	series []string
}

// write adds everything that a fetch found to the change. Errors about the data are
// *storage.InvalidError, feed.ErrResponse or market.ErrSeries.
func (w *writer) write(f *fetched) error {
	series := merge(f.Prices)
	for _, p := range series {
		if err := w.prices(p); err != nil {
			return err
		}
	}
	if w.source.PlanID == "" {
		if f.Tariff != nil || len(f.Alerts) > 0 {
			return pricing.Invalid("planId", "is required, because the source has a tariff or alerts")
		}
		return nil
	}
	if f.Tariff != nil {
		return w.tariff(f.Tariff)
	}
	if f.Alerted {
		return w.alerts(f.Alerts)
	}
	return w.passthrough(series)
}

// merge joins the prices of each node and market, in the order of the responses and in
// the shortest of their steps.
func merge(all []feed.Prices) (merged []feed.Prices) {
	for _, p := range all {
		i := slices.IndexFunc(merged, func(m feed.Prices) bool { return m.Node == p.Node && m.Kind == p.Kind })
		if i < 0 {
			p.Points = slices.Clone(p.Points)
			merged = append(merged, p)
			continue
		}
		m := &merged[i]
		refine(m, p.Step)
		refine(&p, m.Step)
		m.Points, m.Step = append(m.Points, p.Points...), cmp.Or(m.Step, p.Step)
	}
	return merged
}

// refine splits the intervals of prices into a shorter step. So prices of different steps
// have no gaps between them. It leaves unknown steps.
func refine(p *feed.Prices, step time.Duration) {
	if step == 0 || p.Step <= step || p.Step%step != 0 {
		return
	}
	var points []market.Point
	for _, whole := range p.Points {
		for after := time.Duration(0); after < p.Step; after += step {
			points = append(points, market.Point{Start: whole.Start.Add(after), Price: whole.Price})
		}
	}
	p.Points, p.Step = points, step
}

// prices adds the prices of a node to the series of the source's owner.
func (w *writer) prices(p feed.Prices) error {
	owner := storage.Base{OrganizationID: w.source.OrganizationID}
	ref := storage.MarketSeriesRef(owner.OrganizationID, p.Kind, p.Node)
	stored, _, err := storage.Read[storage.MarketSeries](w, ref)
	if storage.IgnoreNotFound(err) != nil {
		return err
	}
	step := time.Duration(stored.StepMinutes) * time.Minute
	refine(&p, step)
	p.Step = cmp.Or(p.Step, step)
	series, err := newSeries(p)
	if err != nil {
		return err
	}
	from, _ := series.Span()
	revised, added, err := w.store.RevisePrices(w, storage.MarketSeries{
		Node: p.Node, Market: p.Kind, Timezone: cmp.Or(stored.Timezone, w.source.Timezone), StepMinutes: int(series.Step() / time.Minute), Base: owner,
	}, []storage.PricesPart{{Start: from, Prices: series.Prices()}})
	if err != nil {
		return fmt.Errorf("prices of %s: %w", p.Node, err)
	}
	w.Put, w.Gone = append(w.Put, revised.Put...), append(w.Gone, revised.Gone...)
	w.series = append(w.series, ref.ID)
	w.run.Added += added.Added
	w.run.Changed += added.Changed
	if added.End.After(w.end) {
		w.end = added.End
	}
	return nil
}

// newSeries returns prices as a series. Of two prices of an interval the later counts: it is a
// correction.
func newSeries(p feed.Prices) (*market.Series, error) {
	series, err := market.New(p.Points, market.Options{Node: p.Node, Kind: p.Kind, Step: p.Step})
	if err != nil {
		return nil, fmt.Errorf("prices of %s: %w", p.Node, err)
	}
	return series, nil
}

// passthrough creates the source's plan if it does not exist: a plan whose price is the
// price of the fetched node.
func (w *writer) passthrough(series []feed.Prices) error {
	_, err := storage.FindShared(w, storage.KindRatePlan.Ref(w.source.OrganizationID, w.source.PlanID))
	if !errors.Is(err, storage.ErrNotFound) || len(series) == 0 {
		return storage.IgnoreNotFound(err)
	}
	if series[0].Kind == market.Emissions {
		return pricing.Invalid("planId", "must be left out, because emissions belong to a grid region")
	}
	if len(series) > 1 {
		return pricing.Invalid("planId", "requires a plan that exists, because the source has the prices of %d nodes or markets", len(series))
	}
	tariff, err := json.Marshal(map[string]any{
		"name": series[0].Node, "market": map[string]any{"node": series[0].Node, "market": series[0].Kind},
	})
	if err != nil {
		return err
	}
	return w.plan(tariff)
}

// tariff replaces the tariff of the source's plan.
func (w *writer) tariff(tariff json.RawMessage) error {
	stored, _, err := storage.Read[storage.RatePlan](w, storage.KindRatePlan.Ref(w.source.OrganizationID, w.source.PlanID))
	if err == nil && sameJSON(stored.Tariff, tariff) {
		return nil
	}
	if storage.IgnoreNotFound(err) != nil {
		return err
	}
	return w.plan(tariff)
}

func (w *writer) plan(tariff json.RawMessage) error {
	plan := storage.RatePlan{ID: w.source.PlanID, Tariff: tariff, Base: storage.Base{OrganizationID: w.source.OrganizationID}}
	if err := storage.Validate(&plan); err != nil {
		return err
	}
	w.Put, w.run.Tariff = append(w.Put, &plan), true
	return nil
}

// sameJSON reports whether two documents have the same values.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// alerts makes alerts the events of the source's plan. It removes its own future events
// that the source does not list any more. If the plan has too many events, it removes its own
// oldest ones that have ended.
func (w *writer) alerts(alerts []feed.Alert) error {
	plan := storage.KindRatePlan.Ref(w.source.OrganizationID, w.source.PlanID)
	if _, _, err := storage.Read[storage.RatePlan](w, plan); err != nil {
		return err
	}
	all, err := storage.ReadPlanEvents(w, plan)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, e := range planEvents(w.source, alerts) {
		if err := storage.Validate(&e); err != nil {
			return err
		}
		if listed[e.ID] = true; all.Set(e) != storage.Unchanged {
			w.run.Events++
		}
	}
	for _, e := range slices.Clone(all.Events) {
		if isOf(w.source, &e) && !listed[e.ID] && e.From.After(w.now) {
			all.Remove(e.ID)
			w.run.Events++
		}
	}
	if excess := len(all.Events) - storage.MaxPlanEvents; excess > 0 { // the oldest ended alerts make room
		all.Events = slices.DeleteFunc(all.Events, func(e storage.PlanEvent) bool {
			drop := excess > 0 && isOf(w.source, &e) && !listed[e.ID] && !e.To.After(w.now)
			if drop {
				excess--
			}
			return drop
		})
	}
	if w.run.Events > 0 {
		w.Put = append(w.Put, &all)
	}
	return nil
}

// eventID is the identifier of the event of a source that begins at a time.
func eventID(s *storage.Source, from time.Time) string {
	return s.ID + "-" + from.UTC().Format("20060102T150405Z")
}

// isOf reports whether an event of the source's plan is of the source.
func isOf(s *storage.Source, e *storage.PlanEvent) bool {
	return e.Kind == pricing.FlexAlert && e.ID == eventID(s, e.From.Time)
}

// planEvents returns alerts as events of a plan.
func planEvents(s *storage.Source, alerts []feed.Alert) []storage.PlanEvent {
	events := make([]storage.PlanEvent, len(alerts))
	for i, a := range alerts {
		e := storage.PlanEvent{Kind: pricing.FlexAlert, Name: a.Name, From: storage.Time{Time: a.From.UTC()}, To: storage.Time{Time: a.To.UTC()}}
		e.SetDefaults()
		e.ID = eventID(s, a.From)
		events[i] = e
	}
	return events
}
