package api

import (
	"context"
	"math"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// MarketSeries is a series of market prices as it is shown: without the prices.
type MarketSeries struct {
	// OrganizationID is absent for a series that all organizations share.
	OrganizationID string `json:"organizationId,omitempty"`
	storage.MarketSeries
}

func showSeries(m *storage.MarketSeries) MarketSeries {
	shown := MarketSeries{MarketSeries: *m}
	if m.OrganizationID != storage.Shared {
		shown.OrganizationID = m.OrganizationID
	}
	return shown
}

func (s *server) listMarketSeries(_ context.Context, _ *call, in *listPlansInput) (Page[MarketSeries], error) {
	list, err := storage.List[storage.MarketSeries](s.Store, storage.KindMarketSeries, in.owner(), in.After, in.Limit+1)
	page := newPage(list, in.Limit, func(m *storage.MarketSeries) string { return m.ID })
	return show(page, showSeries), err
}

func (s *server) deleteMarketSeries(ctx context.Context, c *call, in *planOwner) (Deleted, error) {
	return Deleted{c.id, true}, s.Store.DeleteMarketSeries(ctx, in.owner(), c.id)
}

// marketSeriesLine adds prices to a series of the organization's, or without one
// to a series that all share.
type marketSeriesLine struct {
	lineHead
	// Node is where the prices are taken, as the market's operator names it.
	Node   string      `json:"node"`
	Market market.Kind `json:"market"`
	// Timezone is whose days and hours the prices follow, by default that of the
	// series, and of a new one UTC.
	Timezone string `json:"timezone"`
	// StepMinutes is the length of the steps that the prices are for: 5, 15, 30 or
	// 60, by default that of the series, and of a new one 60.
	StepMinutes int `json:"stepMinutes"`
	// StartTime is the start of the first price's step.
	StartTime storage.Time `json:"startTime" null:"no"`
	// Prices are for one step each, in $/kWh; null leaves what is known of a step.
	Prices []*float64 `json:"prices"`
}

// prepare names the series.
func (l *marketSeriesLine) prepare(im *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	series := l.series()
	if l.OrganizationID != "" {
		if err := l.owner(v, p); err != nil {
			return nil, err
		}
	}
	p.Check(!l.StartTime.IsZero(), "startTime", "is required")
	p.Check(len(l.Prices) > 0, "prices", "is required")
	if p.Err() != nil {
		return &series, nil //nolint:nilerr // the problems are the caller's to tell
	}
	part := l.part()
	return &series, p.addError(part.Validate(time.Duration(l.StepMinutes)*time.Minute, im.call.now))
}

func (l *marketSeriesLine) series() storage.MarketSeries {
	owner := planOwner{l.OrganizationID}
	s := storage.MarketSeries{
		ID: storage.MarketSeriesRef(owner.owner(), l.Market, l.Node).ID, Node: l.Node, Market: l.Market, Timezone: l.Timezone, StepMinutes: l.StepMinutes,
	}
	s.OrganizationID = owner.owner()
	return s
}

func (l *marketSeriesLine) part() storage.PricesPart {
	part := storage.PricesPart{Start: l.StartTime.UTC(), Prices: make([]float64, len(l.Prices))}
	for i, price := range l.Prices {
		if part.Prices[i] = math.NaN(); price != nil {
			part.Prices[i] = *price
		}
	}
	return part
}

type usageLine struct {
	lineHead
	storage.Usage
}

func (l *usageLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	return &l.Usage, refersTo(v, storage.HomeRef(l.OrganizationID, l.HomeID), "homeId", p)
}

type homeMarketLine struct {
	lineHead
	storage.HomeMarket
}

func (l *homeMarketLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	return &l.HomeMarket, refersTo(v, storage.HomeRef(l.OrganizationID, l.HomeID), "homeId", p)
}
