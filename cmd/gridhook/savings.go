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
	var plotted bool
	r := resource{g: g, noun: "home", path: "/v1/homes", scope: g.forOrg}
	o := operation{
		use: "savings HOME", path: "{id}/hvac/estimate_savings", short: "Estimate the savings from optimizing a home's heating and cooling",
		long: `Estimate the savings from optimizing a home's heating and cooling, in a month or, with
--annual, in a year. The estimate uses the setpoints of the home's devices.

With --plot the command draws the day with the largest savings of each device. The plot
shows the temperatures before (o), after (#) and at both times (@) within the allowed
band. Below them are the price and the power.`,
		example: `  gridhook savings home-1 --org acme --month 7 --plot
  gridhook savings home-1 --org acme --annual --json`,
		flags: []bodyFlag{
			{name: "annual", field: "type", value: sets{savings.Annual}, help: "estimate for a year instead of a month"},
			{name: "setback", field: "comparison", value: sets{savings.Setback}, help: "comparison of a constant setpoint with the schedule, instead of the schedule with an optimum"},
			{name: "month", field: "start.month", value: 0, help: "first `month`, 1 to 12: the next one that has not ended (default the current month)"},
			{name: "date", field: "start.date", help: "first `day` instead of a month, such as 2026-07-01"},
			{name: "days", value: 0, help: "number of `days` (default the whole month or year)"},
		},
		usual: fields{"type": savings.Monthly},
	}
	cmd := r.run(o, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		result, err := client.Call[savings.Result](cmd.Context(), c, r.at(o.path, args), body)
		if err != nil {
			return err
		}
		var days []*savings.Day
		for i := 0; plotted && !g.json() && i < len(result.Devices); i++ {
			day, err := bestDay(cmd.Context(), c, result.Devices[i].DeviceID)
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
	})
	cmd.Flags().BoolVar(&plotted, "plot", false, "plot of each device's best day")
	return g.talks(cmd)
}

// bestDay returns the day with the largest savings, which the estimate stored on the
// device.
func bestDay(ctx context.Context, c *client.Client, deviceID string) (*savings.Day, error) {
	device, err := c.GetHVAC(ctx, deviceID)
	if err != nil {
		return nil, err
	}
	var run storage.OptimizationRun
	err = json.Unmarshal(device.LastOptimizationRunData, &run)
	run.Day.DeviceID, run.Day.Units = plain(deviceID), savings.Units(plain(string(run.Day.Units)))
	day, whole := run.Day.Drawable()
	if err != nil || !whole {
		return nil, fmt.Errorf("device %s has no stored day to plot: see the server's log", deviceID)
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
