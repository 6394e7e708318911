package signals_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// badView is a view in which one record does not decode, or whose store fails at the
// record.
type badView struct {
	storage.View
	ref   storage.Ref
	value string
	err   error
}

func (v badView) Get(ref storage.Ref) (storage.Record, error) {
	if ref != v.ref {
		return v.View.Get(ref)
	}
	return storage.Record{Ref: ref, Revision: 7, Value: []byte(v.value)}, v.err
}

func TestHomeError_OneHome(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("bad", "flat", func(h *storage.Home) { h.EnergyMarketBiddingEnabled = true; inChicago(h) }), home("good", "flat", nil),
		&storage.Solar{HomeID: "bad", SizeKw: 8, Base: org}, &storage.PlanEvents{PlanID: "flat", Base: org})
	for _, tt := range []struct {
		name   string
		ref    storage.Ref
		value  string
		reason string
	}{
		{"home", storage.KindHome.Ref("org", "bad"), `{"enabled":tru`, `the stored home "bad" cannot be decoded`},
		{"home of another type", storage.KindHome.Ref("org", "bad"), `{"timezone":7}`, `the stored home "bad" cannot be decoded`},
		{"home with a word that is none", storage.KindHome.Ref("org", "bad"), `{"enabled":tru}`, `the stored home "bad" cannot be decoded`},
		{"solar", storage.KindSolar.Ref("org", "bad"), `[]`, `the stored solar "bad" cannot be decoded`},
		{"solar without a size", storage.KindSolar.Ref("org", "bad"), `{}`, `the home's solar cannot be used`},
		{"usage", storage.KindUsage.Ref("org", "bad"), `{`, `the stored usage "bad" cannot be decoded`},
		{"market of the home", storage.KindHomeMarket.Ref("org", "bad"), `{"node":1}`, `the stored homeMarket "bad" cannot be decoded`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, bad := priceIn(t, s, badView{ref: tt.ref, value: tt.value}, "bad")
			var failed *signals.HomeError
			if !errors.As(bad, &failed) || !strings.Contains(failed.Reason, tt.reason) || failed.Err == nil {
				t.Errorf("got %v, want a HomeError: %s", bad, tt.reason)
			}
			if _, err := priceIn(t, s, badView{ref: tt.ref, value: tt.value}, "good"); err != nil {
				t.Errorf("the other home: %v", err)
			}
		})
	}
}

// TestHomeError_SharedRecord checks that a broken shared record fails each home that
// uses it, and no other.
func TestHomeError_SharedRecord(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), plan("other", flat), home("bad", "flat", nil), home("good", "other", nil))
	ref := storage.KindPlanEvent.Ref("org", "flat")
	_, bad := priceIn(t, s, badView{ref: ref, value: `{"events":7}`}, "bad")
	if failed := (*signals.HomeError)(nil); !errors.As(bad, &failed) || !strings.Contains(failed.Reason, "planEvent") {
		t.Errorf("got %v, want a HomeError that names the events", bad)
	}
	if _, err := priceIn(t, s, badView{ref: ref, value: `{"events":7}`}, "good"); err != nil {
		t.Error(err)
	}
	_, bad = priceIn(t, s, badView{ref: storage.KindRatePlan.Ref("org", "flat"), value: `{"tariff":{`}, "bad")
	if lacks := (*signals.Unpriceable)(nil); !errors.As(bad, &lacks) || !strings.Contains(lacks.Reason, "cannot be read") {
		t.Errorf("got %v, want an Unpriceable that names the plan", bad)
	}
}

// TestHomeError_DerivedEvents checks that broken events of a plan hide its alerts and prices
// but not its days, that broken emissions are an error of the region's data, and that an
// error of the store stays one.
func TestHomeError_DerivedEvents(t *testing.T) {
	s, b := newStore(), signals.NewPricer(10)
	alerts := &storage.PlanEvents{PlanID: "pge", Base: org, Events: []storage.PlanEvent{{
		ID: "heat", Name: "heat", Kind: pricing.FlexAlert, From: storage.Time{Time: day.Start}, To: storage.Time{Time: day.End},
	}}}
	storagetest.Put(t, s, plan("pge", pacific), alerts)
	emissions := storage.MarketSeries{Node: "CA", Market: market.Emissions, Base: org}
	if _, err := s.AddPrices(t.Context(), emissions, []storage.PricesPart{{Start: day.Start, Prices: []float64{0.25}}}); err != nil {
		t.Fatal(err)
	}
	found := programs(t, b, s)
	broken := errors.New("the disk is gone")
	for _, tt := range []struct {
		program string
		ref     storage.Ref
		err     error
	}{
		{"pge", storage.KindPlanEvent.Ref("org", "pge"), nil},
		{"pge", storage.KindRatePlan.Ref("org", "pge"), broken},
		{"MOER-CA", storage.MarketSeriesRef("org", market.Emissions, "CA"), nil},
		{"MOER-CA", storage.MarketSeriesRef("org", market.Emissions, "CA"), broken},
	} {
		err := s.View(func(v storage.View) error {
			r, p := signals.NewPricer(10).Reader(badView{View: v, ref: tt.ref, value: "{", err: tt.err}, "org"), found[tt.program]
			days, err := r.Events(&p, day.Start)
			if err == nil && len(days) != signals.PublishedDays {
				t.Errorf("%s: %d events, want only the days", tt.ref, len(days))
			}
			if err == nil {
				_, err = r.Encode(&days[0])
			}
			return err
		})
		if tt.err == nil && !signals.IsDataError(err) || !errors.Is(err, tt.err) && tt.err != nil {
			t.Errorf("%s: got %v, want an error of the data or %v", tt.ref, err, tt.err)
		}
	}
}

// TestHomeError_NotStoreError checks that a failing store is not reported as a home
// that cannot be priced.
func TestHomeError_NotStoreError(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("h", "flat", inChicago), &storage.Solar{HomeID: "h", SizeKw: 8, Base: org})
	broken := errors.New("the disk is gone")
	for _, ref := range []storage.Ref{storage.KindHome.Ref("org", "h"), storage.KindRatePlan.Ref("org", "flat"), storage.KindSolar.Ref("org", "h"), storage.KindUsage.Ref("org", "h")} {
		_, err := priceIn(t, s, badView{ref: ref, err: broken}, "h")
		var failed *signals.HomeError
		var lacks *signals.Unpriceable
		if !errors.Is(err, broken) || errors.As(err, &failed) || errors.As(err, &lacks) {
			t.Errorf("%s: got %v, want the store's error as it is", ref, err)
		}
	}
}

func priceIn(t *testing.T, s *storage.Store, bad badView, id string) (signal signals.Signal, err error) {
	t.Helper()
	_ = s.View(func(v storage.View) error {
		bad.View = v
		signal, err = signals.NewPricer(10).HomeSignal(bad, "org", id, day)
		return nil
	})
	return signal, err
}
