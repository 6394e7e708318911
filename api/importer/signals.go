package importer

import (
	"math"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// marketSeriesLine adds prices to an organization's series, or to a shared series if the
// line has no organization.
type marketSeriesLine struct {
	_ struct{} `required:"resource,node,market,startTime,prices"`

	lineHead
	Node        string       `json:"node" minLength:"1" maxLength:"64" doc:"Where the prices are taken, as the market's operator names it."`
	Market      market.Kind  `json:"market"`
	Timezone    string       `json:"timezone" doc:"Whose days and hours the prices follow, by default that of the series, and of a new one UTC."`
	StepMinutes int          `json:"stepMinutes" doc:"The length of the steps that the prices are for: 5, 15, 30 or 60, by default that of the series, and of a new one 60."`
	StartTime   storage.Time `json:"startTime" nullable:"false" doc:"The start of the first price's step."`
	Prices      []*float64   `json:"prices" minItems:"1" itemsMinimum:"-50" itemsMaximum:"50" doc:"For one step each, in $/kWh; null leaves what is known of a step."`
}

// prepare returns the line's series. storePrices adds the prices.
func (l *marketSeriesLine) prepare(im *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
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
	return &series, p.AddError(part.Validate(time.Duration(l.StepMinutes)*time.Minute, im.now))
}

func (l *marketSeriesLine) series() storage.MarketSeries {
	owner := wire.PlanOwner{OrganizationID: l.OrganizationID}
	s := storage.MarketSeries{
		ID: storage.MarketSeriesRef(owner.Owner(), l.Market, l.Node).ID, Node: l.Node, Market: l.Market, Timezone: l.Timezone, StepMinutes: l.StepMinutes,
	}
	s.OrganizationID = owner.Owner()
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
	_ struct{} `required:"resource,organizationId,homeId"`

	lineHead
	storage.Usage
}

func (l *usageLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	return &l.Usage, l.ofHome(v, &l.Base, l.HomeID, p)
}

type homeMarketLine struct {
	_ struct{} `required:"resource,organizationId,homeId,node,market"`

	lineHead
	storage.HomeMarket
}

func (l *homeMarketLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	return &l.HomeMarket, l.ofHome(v, &l.Base, l.HomeID, p)
}

// planEventLine is an event of an organization's rate plan, or of a shared plan if the
// line has no organization.
type planEventLine struct {
	_ struct{} `required:"resource,planId,kind,from,to"`

	lineHead
	PlanID string `json:"planId" pattern:"id"`
	storage.PlanEvent
}

// prepare returns the record of the plan's events. storeEvents adds the line's event.
func (l *planEventLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	of := wire.PlanOwner{OrganizationID: l.OrganizationID}
	events := &storage.PlanEvents{PlanID: l.PlanID, Base: storage.Base{OrganizationID: of.Owner()}}
	if l.OrganizationID != "" {
		if err := l.owner(v, p); err != nil {
			return nil, err
		}
	}
	l.SetDefaults()
	if err := p.AddError(l.PlanEvent.Validate()); err != nil {
		return nil, err
	}
	return events, refersTo(v, storage.RatePlanRef(of.Owner(), l.PlanID), "planId", p)
}
