package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newSignalCommand(g *globals) *cobra.Command {
	var from, to string
	var plotted, explained, openADR bool
	cmd := &cobra.Command{
		Use: "signal HOME", Short: "Show the price signal of a home", Args: takes("the home"),
		Example: `  gridhook signal home-1 --org acme --plot
  gridhook signal home-1 --org acme --explain
  gridhook signal home-1 --org acme --from 2026-07-01T00:00:00Z --to 2026-07-02T00:00:00Z --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			start, end, err := window("--from", from, "--to", to, time.Now())
			if err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			w := client.Window{StartTime: start, EndTime: end}
			if openADR {
				events, err := c.OpenADRSignal(cmd.Context(), args[0], w)
				if err != nil {
					return err
				}
				return g.showJSON(events)
			}
			ask := c.PriceSignal
			if explained {
				ask = c.ExplainedSignal
			}
			s, err := ask(cmd.Context(), args[0], w)
			if err != nil {
				return err
			}
			zone := time.UTC
			if plotted && !g.json() {
				zone = zoneOf(cmd.Context(), c, args[0])
			}
			return g.show(s, func(w io.Writer) {
				if plotted {
					plot(w, s, zone)
				}
				if explained || !plotted {
					signalTable(w, s, explained)
				}
				signalSource(w, s)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "start of the window: a `time`, or a duration from now; needs --to (default the current quarter hour)")
	cmd.Flags().StringVar(&to, "to", "", "end of the window: a `time`, or a duration from now; needs --from (default 24h after the current quarter hour)")
	cmd.Flags().BoolVar(&plotted, "plot", false, "plot of the import price instead of a table, in the home's time zone")
	cmd.Flags().BoolVar(&explained, "explain", false, "components of each price")
	cmd.Flags().BoolVar(&openADR, "openadr", false, "OpenADR 3 events in JSON instead of a table")
	cmd.MarkFlagsMutuallyExclusive("openadr", "plot")
	cmd.MarkFlagsMutuallyExclusive("openadr", "explain")
	return g.talks(g.forOrg(cmd))
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
