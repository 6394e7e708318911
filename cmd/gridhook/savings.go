package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

func newSavingsCommand(g *globals) *cobra.Command {
	request := client.SavingsRequest{Type: savings.Monthly}
	var (
		annual, plotted bool
		setback         bool
		month, days     int
		date            string
	)
	cmd := &cobra.Command{
		Use: "savings HOME", Short: "Estimate what optimizing a home's heating and cooling saves", GroupID: groupOperate, Args: takes("the home"),
		Long: `Estimate what optimizing a home's heating and cooling saves in a month, or in a
year with --annual, with the temperatures that its devices are set to.

With --plot it draws, for each device, the day on which most was saved: its
temperatures before (o), after (#) and in both (@) within the allowed band, and
below them the price and the power.`,
		Example: `  gridhook savings home-1 --org acme --month 7 --plot
  gridhook savings home-1 --org acme --annual --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if annual {
				request.Type = savings.Annual
			}
			if setback {
				request.Comparison = savings.Setback
			}
			if flags := cmd.Flags(); flags.Changed("month") || flags.Changed("date") {
				request.Start = &client.SavingsStart{}
				if flags.Changed("month") {
					request.Start.Month = &month
				}
				if flags.Changed("date") {
					request.Start.Date = &date
				}
			}
			if cmd.Flags().Changed("days") {
				request.Days = &days
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			return g.savings(cmd.Context(), c, args[0], request, plotted)
		},
	}
	cmd.Flags().BoolVar(&annual, "annual", false, "a year instead of a month")
	cmd.Flags().BoolVar(&setback, "setback", false, "compare a constant setpoint with the schedule, instead of the setpoints kept with an optimum")
	cmd.Flags().IntVar(&month, "month", 0, "the `month` to begin with, from 1 to 12: the next of that name that has not ended; by default the present one")
	cmd.Flags().StringVar(&date, "date", "", "the `day` to begin with, such as 2026-07-01, instead of a month")
	cmd.Flags().IntVar(&days, "days", 0, "how many `days`; by default those of the month, or of the year")
	cmd.Flags().BoolVar(&plotted, "plot", false, "draw the best day of each device")
	return g.talks(g.forOrg(cmd))
}

// savings requests an estimate and shows it. The plot shows the day that the estimate
// stored on the devices.
func (g *globals) savings(ctx context.Context, c *client.Client, home string, r client.SavingsRequest, plotted bool) error {
	result, err := c.EstimateSavings(ctx, home, r)
	if err != nil {
		return err
	}
	var days []*savings.Day
	for i := 0; plotted && !g.json() && i < len(result.Devices); i++ {
		day, err := bestDay(ctx, c, result.Devices[i].DeviceID)
		if err != nil {
			return err
		}
		days = append(days, day)
	}
	return g.show(result, func(w io.Writer) {
		showSavings(w, &result)
		for _, day := range days {
			say(w, "\n%s", day)
		}
	})
}

// bestDay returns the day of the last estimate with the largest savings.
func bestDay(ctx context.Context, c *client.Client, deviceID string) (*savings.Day, error) {
	device, err := c.GetHVAC(ctx, deviceID)
	if err != nil {
		return nil, err
	}
	var run storage.OptimizationRun
	err = json.Unmarshal(device.LastOptimizationRunData, &run)
	run.Day.DeviceID, run.Day.TempUnits = plain(deviceID), savings.Units(plain(string(run.Day.TempUnits)))
	day, whole := run.Day.Day()
	if err != nil || !whole {
		return nil, fmt.Errorf("the device %s has no day of an estimate to draw: the server's log may say why", deviceID)
	}
	return day, nil
}

func showSavings(w io.Writer, r *savings.Result) {
	row(w, "home", r.HomeID)
	row(w, "before", dollars(r.BaselineCost), energy(r.BaselineKwh))
	row(w, "after", dollars(r.OptimizedCost), energy(r.OptimizedKwh))
	if g := r.Gas; g != nil {
		row(w, "gas", fmt.Sprintf("%.1f therms before, %.1f after", g.BaselineTherms, g.OptimizedTherms), fmt.Sprintf("%s before, %s after", dollars(g.BaselineCost), dollars(g.OptimizedCost)))
	}
	row(w, "saved", dollars(r.Savings), fmt.Sprintf("%.1f %%, between %s and %s", r.SavingsPercent, dollars(r.Uncertainty.SavingsLow), dollars(r.Uncertainty.SavingsHigh)))
	weather := r.Assumptions.Weather
	row(w, "weather", fmt.Sprintf("%s, %s, %.0f km away, a typical year", weather.Station, weather.State, weather.DistanceKm))
	say(w, "\n")
	if len(r.Months) > 1 {
		row(w, "MONTH", "BEFORE", "AFTER", "SAVED", "%")
		for _, m := range r.Months {
			row(w, fmt.Sprintf("%d-%02d", m.Year, m.Month), dollars(m.BaselineCost), dollars(m.OptimizedCost), dollars(m.Savings), fmt.Sprintf("%.1f", m.SavingsPercent))
		}
		say(w, "\n")
	}
	row(w, "DEVICE", "BEFORE", "AFTER", "SAVED", "%")
	for _, d := range r.Devices {
		row(w, d.DeviceID, dollars(d.BaselineCost), dollars(d.OptimizedCost), dollars(d.Savings), fmt.Sprintf("%.1f", d.SavingsPercent))
	}
}

func dollars(amount float64) string { return fmt.Sprintf("$%.2f", amount) }

func energy(kwh float64) string { return fmt.Sprintf("%.1f kWh", kwh) }
