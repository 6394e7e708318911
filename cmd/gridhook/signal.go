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
				switch {
				case explained:
					explanation(w, s)
				case !plotted:
					signalTable(w, s)
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
	if err != nil {
		return time.UTC
	}
	if zone, ok := storage.Location(h.Timezone); ok {
		return zone
	}
	return time.UTC
}

// signalTable prints a row for each change, because prices stay the same for hours.
func signalTable(w io.Writer, s client.Signal) {
	row(w, "FROM", "TO", "PRICE $/kWh", "IMPORT $/kWh", "EXPORT $/kWh", "CONFIDENCE")
	for i := 0; i < len(s.Data); {
		first := s.Data[i]
		last := first
		for ; i < len(s.Data) && sameRates(first, s.Data[i]); i++ {
			last = s.Data[i]
		}
		row(w, moment(first.StartTime), moment(last.EndTime), rate(first.Price), rate(first.Import), rate(first.Export), first.Confidence)
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

// explanation prints a row for each change of a price or of its reason.
func explanation(w io.Writer, s client.Signal) {
	row(w, "FROM", "TO", "PRICE $/kWh", "IMPORT", "EXPORT", "WHY")
	for i := 0; i < len(s.Data) && i < len(s.Explanation); {
		first, why := s.Data[i], s.Explanation[i].Reason
		last := first
		for ; i < len(s.Data) && i < len(s.Explanation) && why.SameAs(s.Explanation[i].Reason); i++ {
			last = s.Data[i]
		}
		row(w, moment(first.StartTime), moment(last.EndTime), rate(first.Price), rate(first.Import), rate(first.Export), why)
	}
}
