package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

type billInput struct {
	wire.BillInput

	rate bill.Terms
}

func (in *billInput) check(c *rest.Call) {
	c.Wrong.Check(in.RatePlanID == "" || in.Tariff == nil, "ratePlanId", "cannot be combined with tariff")
	if in.Tariff == nil {
		return
	}
	var err error
	if in.rate, err = bill.ReadRate(in.Tariff); err != nil {
		storage.AddTariffError(&c.Wrong, err)
	}
}

// bill calculates a home's bill. It waits for a slot that bills share with estimates.
func (s *server) bill(ctx context.Context, c *rest.Call, in *billInput) (bill.Bill, error) {
	home, err := storage.Query(s.Store, func(v storage.View) (bill.Home, error) { return s.billed(v, c, in) })
	if err != nil {
		return bill.Bill{}, err
	}
	done, _, err := s.Estimates.turn(ctx, c.Payer())
	if err != nil {
		return bill.Bill{}, err
	}
	defer done()
	made, err := bill.ForHome(home, in.rate, in.Request)
	if err != nil {
		return bill.Bill{}, err
	}
	return *made.Rounded(), nil
}

// billed reads a home's data for its bill. If in has no tariff, billed sets
// in.rate.Tariff from the requested or the home's rate plan.
func (s *server) billed(v storage.View, c *rest.Call, in *billInput) (h bill.Home, err error) {
	home, _, err := storage.Read[storage.Home](v, storage.KindHome.Ref(c.Org, c.ID))
	if err != nil {
		return h, err
	}
	if in.Tariff == nil {
		if in.RatePlanID != "" {
			if _, err := storage.FindShared(v, storage.KindRatePlan.Ref(c.Org, in.RatePlanID)); err != nil {
				return h, err
			}
			home.RatePlanID = in.RatePlanID
		}
		input, err := s.Pricer.Input(v, &home)
		if err != nil {
			return h, err
		}
		in.rate.Tariff, in.rate.Parts, h.Market, h.Events = input.Tariff, input.Parts, input.Market, input.Events
		h.Bids = input.MarketBidding
	}
	if location, ok := storage.Location(home.Timezone); ok {
		h.Location = location
	}
	if place, ok := eligibility.Locate(home.Zipcode); ok {
		h.Place = &place.Place
	}
	usage, _, err := storage.Read[storage.Usage](v, storage.KindUsage.Ref(c.Org, c.ID))
	if storage.IgnoreNotFound(err) != nil {
		return h, err
	}
	h.Usage, h.AnnualKWh = usage.Pricing(), usage.AnnualKWh()
	measured, _, err := storage.Read[storage.MeasuredLoad](v, storage.KindMeasuredLoad.Ref(c.Org, c.ID))
	if storage.IgnoreNotFound(err) != nil {
		return h, err
	}
	h.Metered = measured.Typical()
	system, _, err := storage.Read[storage.Solar](v, storage.KindSolar.Ref(c.Org, c.ID))
	if errors.Is(err, storage.ErrNotFound) {
		return h, nil
	}
	h.Solar = &bill.Solar{Array: system.Array()}
	h.Solar.SizeKw, h.Solar.NonNetMetered = system.SizeKw, system.NonNetMetered || system.ExportValues != ""
	h.Solar.AccPlus, h.Solar.ConnectionYear = system.AccPlus, system.ConnectionYear
	h.Solar.AppliedFrom, h.Solar.AppliedTo = system.Applied()
	h.Solar.Regime = s.Pricer.Regime(&system.SolarSettings, home.Zipcode, in.rate.Tariff.Info().EIAID)
	return h, err
}
