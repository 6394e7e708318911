package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

// marketFormat holds the details that files of market prices lack.
type marketFormat struct {
	operator, node, kind, timezone string
}

// operators are the supported market operators. Each is also an adapter of sources, which
// knows the time zone of the operator's days.
var operators = []string{"caiso", "comed", "ercot", "isone", "miso", "nyiso", "pjm", "spp"}

func (m *marketFormat) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.operator, "market", "", "market `operator` of the prices, which determines the time zone: "+strings.Join(operators, ", "))
	flags.StringVar(&m.node, "node", "", "`node` of prices that do not name one")
	flags.StringVar(&m.kind, "kind", "", "`market` of prices that do not name one: day-ahead or real-time")
	flags.StringVar(&m.timezone, "timezone", "", "IANA time `zone` of the prices' days (default the market operator's)")
}

// check validates the flags.
func (m *marketFormat) check(format string) error {
	if format != formatMarket {
		if *m != (marketFormat{}) {
			return usagef("--market, --node, --kind and --timezone need --format %s", formatMarket)
		}
		return nil
	}
	operator := strings.ToLower(m.operator)
	if operator != "" && !slices.Contains(operators, operator) {
		return usagef("--market must be one of %s, not %q", strings.Join(operators, ", "), m.operator)
	}
	adapter, _ := feed.ByName(operator) // without --market there is none
	m.timezone = cmp.Or(m.timezone, adapter.Timezone)
	if m.timezone != "" {
		if _, ok := storage.Location(m.timezone); !ok {
			return usagef("--timezone must be a time zone such as America/Chicago, not %q", m.timezone)
		}
	}
	if m.kind != "" && !slices.Contains([]market.Kind{market.DayAhead, market.RealTime}, m.marketKind()) {
		return usagef("--kind must be day-ahead or real-time, not %q", m.kind)
	}
	return nil
}

func (m *marketFormat) marketKind() market.Kind { return market.Kind(apiSpelling(m.kind)) }

// maxMarketFile bounds a file of prices in bytes, because its prices are sorted in memory. A
// year of five-minute prices takes some 15 MB.
const maxMarketFile = 256 << 20

// read converts a market's file to lines of prices, one per day and series.
func (m *marketFormat) read(r io.Reader, org string, to *chunker, leftOut func(fileError)) error {
	location, _ := storage.Location(m.timezone) // an empty name is UTC
	options := market.Options{Node: m.node, Kind: m.marketKind(), Location: location}
	limited := &io.LimitedReader{R: r, N: maxMarketFile + 1}
	all, err := market.Read(limited, options, func(wrong market.LineError) {
		e := wrongLine(wrong.Line, wrong.Field, wrong.Reason)
		e.Resource = string(storage.KindMarketSeries)
		leftOut(e)
	})
	if limited.N == 0 {
		err = errLargeFile(maxMarketFile)
	}
	if err != nil {
		return err
	}
	for _, series := range all {
		switch {
		case series.Node == "":
			return errors.Join(to.flush(), errors.New("the prices do not name a node: name it with --node"))
		case series.Kind == "":
			return errors.Join(to.flush(), errors.New("the prices do not name a market: name it with --kind"))
		}
		if err := m.send(series, org, to); err != nil {
			return err
		}
	}
	return to.flush()
}

// send sends a series day by day in UTC.
func (m *marketFormat) send(series *market.Series, org string, to *chunker) error {
	step := series.Step()
	points := series.Points()
	for number := 1; len(points) > 0; number++ {
		first := points[0].Start
		end := first.Truncate(24 * time.Hour).Add(24 * time.Hour)
		line := priceLine{
			Resource: storage.KindMarketSeries, OrganizationID: org, Node: series.Node, Market: series.Kind, Timezone: m.timezone,
			StepMinutes: int(step / time.Minute), StartTime: storage.Time{Time: first},
		}
		for len(points) > 0 && points[0].Start.Before(end) {
			for at := first.Add(time.Duration(len(line.Prices)) * step); at.Before(points[0].Start); at = at.Add(step) {
				line.Prices = append(line.Prices, nil)
			}
			price := math.Round(points[0].Price*1e8) / 1e8
			line.Prices, points = append(line.Prices, &price), points[1:]
		}
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		if err := to.add(number, text); err != nil {
			return err
		}
	}
	return nil
}

// priceLine is a line of prices in the import's format.
type priceLine struct {
	Resource       storage.Kind `json:"resource"`
	OrganizationID string       `json:"organizationId,omitempty"`
	Node           string       `json:"node"`
	Market         market.Kind  `json:"market"`
	Timezone       string       `json:"timezone,omitempty"`
	StepMinutes    int          `json:"stepMinutes"`
	StartTime      storage.Time `json:"startTime"`
	Prices         []*float64   `json:"prices"`
}
