package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newSignalCommand(g *globals) *cobra.Command {
	var plotted bool
	r := resource{g: g, noun: "home", path: "/v1/homes", scope: g.forOrg}
	cmd := r.run(operation{
		use: "signal HOME", short: "Show the price signal of a home",
		example: `  gridhook signal home-1 --org acme --plot
  gridhook signal home-1 --org acme --explain
  gridhook signal home-1 --org acme --from 2026-07-01T00:00:00Z --to 2026-07-02T00:00:00Z --json`,
		flags: append(windowFlags("from", "to"),
			bodyFlag{name: "explain", value: sets{true}, help: "components of each price"},
			bodyFlag{name: "openadr", field: "format", value: sets{storage.FormatOpenADR3}, help: "OpenADR 3 events in JSON instead of a table"}),
	}, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		response, err := client.Call[json.RawMessage](cmd.Context(), c, r.at("{id}/price_signal", args), body)
		if err != nil {
			return err
		}
		if body["format"] != nil {
			return g.showJSON(response)
		}
		s, err := convert[client.Signal](response)
		if err != nil {
			return err
		}
		zone := time.UTC
		if plotted && !g.json() {
			zone = zoneOf(cmd.Context(), c, args[0])
		}
		explained := body["explain"] != nil
		return g.show(s, func(w io.Writer) {
			if plotted {
				plot(w, s, zone)
			}
			if explained || !plotted {
				signalTable(w, s, explained)
			}
			signalSource(w, s)
		})
	})
	cmd.Flags().BoolVar(&plotted, "plot", false, "plot of the import price instead of a table, in the home's time zone")
	cmd.MarkFlagsRequiredTogether("from", "to")
	cmd.MarkFlagsMutuallyExclusive("openadr", "plot")
	cmd.MarkFlagsMutuallyExclusive("openadr", "explain")
	return g.talks(cmd)
}

// zoneOf returns the time zone of a home, or UTC if the home has none.
func zoneOf(ctx context.Context, c *client.Client, home string) *time.Location {
	h, err := c.OwnHome(ctx, home)
	if zone, ok := storage.Location(h.Timezone); err == nil && ok {
		return zone
	}
	return time.UTC
}

// signalTable prints a row for each change, because prices stay the same for hours. With the
// explanation of the signal, a change of a reason counts instead of a change of a price.
func signalTable(w io.Writer, s client.Signal, explained bool) {
	heads, intervals := []any{"FROM", "TO", "PRICE $/kWh", "IMPORT $/kWh", "EXPORT $/kWh", "CONFIDENCE"}, len(s.Data)
	same := func(a, b int) bool { return sameRates(s.Data[a], s.Data[b]) }
	note := func(i int) any { return s.Data[i].Confidence }
	if explained {
		heads, intervals = []any{"FROM", "TO", "PRICE $/kWh", "IMPORT", "EXPORT", "WHY"}, min(len(s.Data), len(s.Explanation))
		same = func(a, b int) bool { return s.Explanation[a].SameAs(s.Explanation[b].Reason) }
		note = func(i int) any { return s.Explanation[i].Reason }
	}
	row(w, heads...)
	for i := 0; i < intervals; {
		start, first, last := i, s.Data[i], s.Data[i]
		for ; i < intervals && same(start, i); i++ {
			last = s.Data[i]
		}
		row(w, moment(first.StartTime), moment(last.EndTime), rate(first.Price), rate(first.Import), rate(first.Export), note(start))
	}
}

func sameRates(a, b client.Interval) bool {
	a.StartTime, a.EndTime, b.StartTime, b.EndTime = storage.Time{}, storage.Time{}, storage.Time{}, storage.Time{}
	return a == b
}

func rate(dollars float64) string { return fmt.Sprintf("%.5f", dollars) }

func signalSource(w io.Writer, s client.Signal) {
	say(w, "\nimport: %s\n", or(plain(s.Metadata.ImportSource)))
	e := s.Metadata.ExportCompensation
	say(w, "export: %s, %s\n", e.Type, or(plain(e.Description)))
}
