package storage

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
)

// MarketSeries describes the published prices of a node, or the published emissions of a
// grid region. MarketPrices holds the values by month. Every change of a value writes the
// series, so its revision also covers the values. A series belongs to one organization or,
// as Shared, to all.
type MarketSeries struct {
	ID          string      `json:"id" example:"REAL_TIME--COMED"`
	Node        string      `json:"node" doc:"The node, or the grid region of emissions, such as CA." example:"COMED"`
	Market      market.Kind `json:"market" doc:"EMISSIONS has the marginal emissions of a grid region, in kg CO2 per kWh."`
	Timezone    string      `json:"timezone" maxLength:"64" doc:"The time zone of the prices." example:"America/Chicago"`
	StepMinutes int         `json:"stepMinutes" doc:"The length of a price's step." example:"60"`
	StartTime   Time        `json:"startTime" doc:"The start of the first price. endTime is the end of the last price."`
	EndTime     Time        `json:"endTime"`
	Prices      int         `json:"prices" doc:"The number of prices." example:"8760"`
	Base
}

// MarketSeriesRef names the series of a node in a market.
func MarketSeriesRef(org string, kind market.Kind, node string) Ref {
	return KindMarketSeries.Ref(org, marketSeriesID(kind, node))
}

// partMark separates the parts of an identifier of market data. No part contains it: see
// marketSeriesID.
const partMark = "--"

// marketSeriesID returns the identifier of a node's series. It encodes each character
// other than letters, digits and _ as - and two hexadecimal digits.
func marketSeriesID(kind market.Kind, node string) string {
	var b strings.Builder
	b.WriteString(string(kind) + partMark)
	for i := range len(node) {
		if c := node[i]; c == '-' || !ValidID(string(rune(c))) || c >= 0x80 {
			b.WriteString("-" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Ref names the series.
func (m *MarketSeries) Ref() Ref { return KindMarketSeries.Ref(m.OrganizationID, m.ID) }

// Check adds every wrong field.
func (m *MarketSeries) Check(p *Problems) {
	if m.Market == market.Emissions {
		region, ok := carbon.Named(m.Node)
		p.Check(ok && region.Code == m.Node, "node", "must be the grid region of the emissions, such as CA")
	} else {
		checkMarket(p, m.Node, m.Market)
	}
	p.Check(m.Timezone != "", "timezone", "is required")
	if m.Timezone != "" {
		checkLocation(p, m.Timezone)
	}
	switch m.StepMinutes {
	case 5, 15, 30, 60:
	default:
		p.Addf("stepMinutes", "must be 5, 15, 30 or 60")
	}
}

// checkMarket validates a node and its market.
func checkMarket(p *Problems, node string, kind market.Kind) {
	longest := marketPricesRef(Shared, marketSeriesID(market.RealTime, node), time.Time{})
	p.Check(node != "", "node", "is required")
	p.Check(longest.Valid(), "node", "has too many characters that are neither letters nor digits")
	checkEnum(p, "market", kind, market.DayAhead, market.RealTime)
}

// step returns the length of the series' steps.
func (m *MarketSeries) step() time.Duration { return time.Duration(m.StepMinutes) * time.Minute }

// Load joins the series' months. Errors: *DecodeError.
func (m *MarketSeries) Load(v View) (*market.Series, error) {
	parts, err := m.Parts(v)
	if err != nil {
		return nil, err
	}
	series, err := m.build(parts)
	if err != nil {
		return nil, &DecodeError{m.Ref(), fmt.Errorf("makes no series: %w", err)}
	}
	return series, nil
}

// build returns prices in the form of package market.
func (m *MarketSeries) build(parts []PricesPart) (*market.Series, error) {
	location, ok := Location(m.Timezone)
	if !ok {
		return nil, errors.New("it has no time zone")
	}
	var points []market.Point
	for _, part := range parts {
		for i, price := range part.Prices {
			if !math.IsNaN(price) {
				points = append(points, market.Point{Start: part.Start.Add(time.Duration(i) * m.step()), Price: price})
			}
		}
	}
	return market.New(points, market.Options{Node: m.Node, Kind: m.Market, Location: location, Step: m.step()})
}

// months iterates over the months' records, in order.
func (m *MarketSeries) months(v View) iter.Seq2[Record, error] {
	prefix := m.ID + partMark
	return func(yield func(Record, error) bool) {
		for r, err := range Live(v, KindMarketPrices, m.OrganizationID, prefix) {
			if err == nil && !strings.HasPrefix(r.ID, prefix) || !yield(r, err) {
				return
			}
		}
	}
}

// Parts returns the series' prices by month, the form in which AddPrices takes them.
// Errors: *DecodeError.
func (m *MarketSeries) Parts(v View) (parts []PricesPart, err error) {
	for r, err := range m.months(v) {
		if err != nil {
			return nil, err
		}
		part, err := monthPart(r)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// monthPart decodes a record of a month's prices.
func monthPart(r Record) (PricesPart, error) {
	stored, err := Decode[MarketPrices](r)
	if err != nil {
		return PricesPart{}, err
	}
	start, err := time.Parse(monthLayout, r.ID[strings.LastIndex(r.ID, partMark)+len(partMark):])
	if err != nil {
		return PricesPart{}, &DecodeError{r.Ref, fmt.Errorf("names no month: %w", err)}
	}
	prices, err := unpackPrices(stored.Prices)
	if err != nil {
		return PricesPart{}, &DecodeError{r.Ref, fmt.Errorf("holds no prices: %w", err)}
	}
	return PricesPart{Start: start, Prices: prices}, nil
}
