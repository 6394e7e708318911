package storage

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// MarketSeries is what a market publishes of a node: its prices are kept by month,
// in MarketPrices. It is written whenever one of them changes, so its revision
// names them too. A series belongs to one organization or, as Shared, to all.
type MarketSeries struct {
	ID     string      `json:"id"`
	Node   string      `json:"node"`
	Market market.Kind `json:"market"`
	// Timezone is whose days and hours the prices follow.
	Timezone string `json:"timezone"`
	// StepMinutes is the length of the steps that the prices are for.
	StepMinutes int `json:"stepMinutes"`
	// StartTime is the start of the first price, EndTime the end of the last.
	StartTime Time `json:"startTime"`
	EndTime   Time `json:"endTime"`
	// Prices is how many there are.
	Prices int `json:"prices"`
	Base
}

// MarketSeriesRef names the series of a node in a market.
func MarketSeriesRef(org string, kind market.Kind, node string) Ref {
	return Ref{KindMarketSeries, org, marketSeriesID(kind, node)}
}

// partMark is between the parts of an identifier of market data. It is nowhere in
// a part: see marketSeriesID.
const partMark = "--"

// marketSeriesID makes an identifier of any node's name: what is neither a letter,
// a digit nor _ is written as - and two hexadecimal digits.
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
func (m *MarketSeries) Ref() Ref { return Ref{KindMarketSeries, m.OrganizationID, m.ID} }

// Validate names every wrong field.
func (m *MarketSeries) Validate() error {
	var p Problems
	checkMarket(&p, m.Node, m.Market)
	_, ok := Location(m.Timezone)
	p.Check(ok, "timezone", "must be an IANA time zone name such as America/Chicago")
	switch m.StepMinutes {
	case 5, 15, 30, 60:
	default:
		p.Addf("stepMinutes", "must be 5, 15, 30 or 60")
	}
	return p.Err()
}

// checkMarket names what is wrong with a node and its market.
func checkMarket(p *Problems, node string, kind market.Kind) {
	const most = 64
	checkText(p, "node", node, 1, most)
	if longest := marketPricesRef(Shared, marketSeriesID(market.RealTime, node), time.Time{}); len(node) <= most && node != "" && !longest.Valid() {
		p.Addf("node", "has too many signs that are neither letters nor digits")
	}
	checkEnum(p, "market", kind, market.DayAhead, market.RealTime)
}

// step is the length of the series' steps.
func (m *MarketSeries) step() time.Duration { return time.Duration(m.StepMinutes) * time.Minute }

// FindMarketSeries is the record of the organization's own series of a node, or
// else of the shared one. Errors: ErrNotFound.
func FindMarketSeries(v View, org string, kind market.Kind, node string) (Record, error) {
	r, err := v.Get(MarketSeriesRef(org, kind, node))
	if errors.Is(err, ErrNotFound) || err == nil && r.Deleted {
		r, err = v.Get(MarketSeriesRef(Shared, kind, node))
	}
	if err == nil && r.Deleted {
		return Record{}, ErrNotFound
	}
	return r, err
}

// Load puts the series' months together.
func (m *MarketSeries) Load(v View) (*market.Series, error) {
	points, err := m.points(v)
	if err != nil {
		return nil, err
	}
	return m.build(points)
}

// build makes what package market works with.
func (m *MarketSeries) build(points []market.Point) (*market.Series, error) {
	location, ok := Location(m.Timezone)
	if !ok {
		return nil, fmt.Errorf("stored %s has no time zone", m.Ref())
	}
	return market.New(points, market.Options{Node: m.Node, Kind: m.Market, Location: location, Step: m.step()})
}

// points are the series' prices, month by month.
func (m *MarketSeries) points(v View) ([]market.Point, error) {
	var points []market.Point
	err := m.months(v, func(r Record) error {
		month, err := monthPoints(r, m.step())
		points = append(points, month...)
		return err
	})
	return points, err
}

// months hands each month's record to use, in order.
func (m *MarketSeries) months(v View, use func(Record) error) error {
	var failed error
	prefix := m.ID + partMark
	err := v.Scan(KindMarketPrices, m.OrganizationID, prefix, func(r Record) bool {
		if strings.HasPrefix(r.ID, prefix) && !r.Deleted {
			failed = use(r)
		}
		return strings.HasPrefix(r.ID, prefix) && failed == nil
	})
	return errors.Join(err, failed)
}

// monthPoints reads a record of a month's prices.
func monthPoints(r Record, step time.Duration) ([]market.Point, error) {
	stored, err := Decode[MarketPrices](r)
	if err != nil {
		return nil, err
	}
	start, err := time.Parse(monthLayout, r.ID[strings.LastIndex(r.ID, partMark)+len(partMark):])
	if err != nil {
		return nil, fmt.Errorf("stored %s names no month: %w", r.Ref, err)
	}
	prices, err := unpackPrices(stored.Prices)
	if err != nil {
		return nil, fmt.Errorf("stored %s: %w", r.Ref, err)
	}
	points := make([]market.Point, 0, len(prices))
	for i, price := range prices {
		if price == price { // not NaN
			points = append(points, market.Point{Start: start.Add(time.Duration(i) * step), Price: price})
		}
	}
	return points, nil
}
