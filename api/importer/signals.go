package importer

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// marketSeriesLine adds prices to an organization's series, or to a shared series if the
// line has no organization.
type marketSeriesLine struct {
	_ struct{} `required:"resource,node,market,startTime,prices"`

	lineHead
	Node        string       `json:"node" minLength:"1" maxLength:"64" doc:"The pricing node by the market operator's name, or the grid region of EMISSIONS, such as CA."`
	Market      market.Kind  `json:"market"`
	Timezone    string       `json:"timezone" doc:"The time zone of the prices, by default the time zone of the series. For a new series it is UTC."`
	StepMinutes int          `json:"stepMinutes" doc:"The length of a price's step: 5, 15, 30 or 60, by default the length in the series. For a new series it is 60."`
	StartTime   storage.Time `json:"startTime" nullable:"false" doc:"The start of the first price's step."`
	Prices      []*float64   `json:"prices" minItems:"1" itemsMinimum:"-50" itemsMaximum:"50" doc:"One price per step, in $/kWh, or in kg CO2 per kWh for EMISSIONS. null keeps the stored price of a step."`
}

// prepare returns the line's series. storePrices adds the prices.
func (l *marketSeriesLine) prepare(c *check) storage.Entity {
	series := l.series()
	c.sharedOwner(&l.lineHead)
	c.p.Check(!l.StartTime.IsZero(), "startTime", "is required")
	if c.p.Err() == nil {
		part := l.part()
		part.Check(&c.p, time.Duration(l.StepMinutes)*time.Minute, c.now)
	}
	return &series
}

func (l *marketSeriesLine) series() storage.MarketSeries {
	owner := cmp.Or(l.OrganizationID, storage.Shared)
	s := storage.MarketSeries{
		ID: storage.MarketSeriesRef(owner, l.Market, l.Node).ID, Node: l.Node, Market: l.Market, Timezone: l.Timezone, StepMinutes: l.StepMinutes,
	}
	s.OrganizationID = owner
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

func (l *usageLine) prepare(c *check) storage.Entity {
	c.ofHome(&l.lineHead, &l.Base, l.HomeID)
	return &l.Usage
}

type measuredLoadLine struct {
	_ struct{} `required:"resource,organizationId,homeId,months"`

	lineHead
	storage.MeasuredLoad
}

// prepare adds the stored months that the line does not replace.
func (l *measuredLoadLine) prepare(c *check) storage.Entity {
	c.ofHome(&l.lineHead, &l.Base, l.HomeID)
	latest := c.now.AddDate(0, 0, 1).Format("2006-01") // somewhere it is already tomorrow
	for i, m := range l.Months {
		c.p.Check(m.Month <= latest, fmt.Sprintf("months[%d].month", i), "must not be after the present month, %s", latest)
	}
	if l.Check(&c.p); c.p.Err() == nil {
		stored, _ := replaced[storage.MeasuredLoad](c, l.MeasuredLoad.Ref())
		l.Merge(&stored)
	}
	return &l.MeasuredLoad
}

type homeMarketLine struct {
	_ struct{} `required:"resource,organizationId,homeId,node,market"`

	lineHead
	storage.HomeMarket
}

func (l *homeMarketLine) prepare(c *check) storage.Entity {
	c.ofHome(&l.lineHead, &l.Base, l.HomeID)
	return &l.HomeMarket
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
func (l *planEventLine) prepare(c *check) storage.Entity {
	events := &storage.PlanEvents{PlanID: l.PlanID, Base: storage.Base{OrganizationID: c.sharedOwner(&l.lineHead)}}
	l.SetDefaults()
	l.PlanEvent.Check(&c.p)
	c.refersTo(storage.KindRatePlan.Ref(events.OrganizationID, l.PlanID), "planId")
	return events
}
