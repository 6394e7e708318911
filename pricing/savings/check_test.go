package savings_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/savings"
)

func TestEstimate_IncompleteHome(t *testing.T) {
	for _, c := range []struct {
		want  error
		spoil func(*savings.Input)
	}{
		{savings.ErrNoDevice, func(in *savings.Input) { in.Devices = nil }},
		{savings.ErrNoPrices, func(in *savings.Input) { in.Prices = nil }},
		{savings.ErrNoPlace, func(in *savings.Input) { in.Place = nil }},
		{savings.ErrNoPlace, func(in *savings.Input) { in.Location = nil }},
	} {
		in := home(t, chicago, flatRate)
		c.spoil(&in)
		if _, err := savings.Estimate(in); !errors.Is(err, c.want) {
			t.Errorf("error %v, want %v", err, c.want)
		}
	}
}

func TestEstimate_InvalidFields(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*savings.Input, *savings.Device)
		want  []string
	}{
		"start": {func(in *savings.Input, _ *savings.Device) {
			in.Request.Start = savings.Start{Month: ptr(1), Date: &pricing.Date{Year: 2026, Month: 1, Day: 1}}
		}, []string{"start"}},
		"too early": {func(in *savings.Input, _ *savings.Device) {
			in.Request.Start = savings.Start{Date: &pricing.Date{Year: 1, Month: 1, Day: 1}}
		}, []string{"start.date"}},
		"no today": {func(in *savings.Input, _ *savings.Device) { in.Today = pricing.Date{} }, []string{"start.date"}},
		"device": {func(_ *savings.Input, d *savings.Device) {
			*d = savings.Device{
				Units: savings.Fahrenheit, Settings: savings.Settings{Mode: savings.Auto, Min: 70, Heat: 69, Cool: 68, Max: 67},
				HeatingRate: -1, CoolingRate: 101, IrradianceCoefficient: math.NaN(),
			}
		}, []string{
			"devices[0].targetHeatSetpoint", "devices[0].targetCoolSetpoint", "devices[0].maxTemp", "devices[0].heatTransferCoefficient",
			"devices[0].heatingRate", "devices[0].coolingRate", "devices[0].irradianceCoefficient",
		}},
		"rates that say nothing": {func(_ *savings.Input, d *savings.Device) {
			d.HeatingRate, d.CoolingRate, d.HeatTransferCoefficient = 1e-310, -0.01, 1e-310
		}, []string{"devices[0].heatTransferCoefficient", "devices[0].heatingRate", "devices[0].coolingRate"}},
		"no rates": {func(_ *savings.Input, d *savings.Device) { d.HeatingRate, d.CoolingRate = 0, 0 }, []string{"devices[0].heatingRate"}},
		"setpoints out of the device's band": {func(in *savings.Input, _ *savings.Device) {
			in.Request.TargetHeatSetpoint, in.Request.TargetCoolSetpoint = ptr(60.0), ptr(79.0)
		}, []string{"targetHeatSetpoint", "targetCoolSetpoint"}},
		"limits crossed": {func(in *savings.Input, _ *savings.Device) {
			in.Request.MinTemp, in.Request.MaxTemp = ptr(80.0), ptr(60.0)
		}, []string{"minTemp", "targetHeatSetpoint", "targetCoolSetpoint"}},
		"setpoints crossed": {func(in *savings.Input, _ *savings.Device) {
			in.Request.TargetHeatSetpoint, in.Request.TargetCoolSetpoint = ptr(74.0), ptr(70.0)
		}, []string{"targetCoolSetpoint"}},
		"units mixed": {func(in *savings.Input, _ *savings.Device) {
			celsius := device()
			celsius.Units, celsius.Settings = savings.Celsius, savings.Settings{Mode: savings.Auto, Min: 18, Heat: 20, Cool: 24, Max: 26}
			in.Devices = append(in.Devices, celsius)
			in.Request.TargetTemp = ptr(70.0)
		}, []string{"devices"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := home(t, chicago, flatRate)
			if name == "no today" {
				in.Request.Start = savings.Start{}
			}
			c.spoil(&in, &in.Devices[0])
			_, err := savings.Estimate(in)
			var wrong *pricing.InvalidError
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v", err)
			}
			var fields []string
			for i, f := range wrong.Fields {
				fields = append(fields, f.Field)
				if i < 5 && !strings.Contains(err.Error(), f.Field+": "+f.Message) {
					t.Errorf("%q lacks %v", err, f)
				}
			}
			if !slices.Equal(fields, c.want) {
				t.Errorf("got  %q\nwant %q", fields, c.want)
			}
		})
	}
}

// TestCheck_UnusedSetpoint checks that a mode without cooling ignores the cooling
// setpoint.
func TestCheck_UnusedSetpoint(t *testing.T) {
	in := home(t, chicago, pgeElec)
	in.Request.Mode, in.Request.TargetHeatSetpoint = ptr(savings.Heat), ptr(77.0)
	if r := estimate(t, in); r.BaselineKwh <= 0 {
		t.Errorf("%+v", r.Figures)
	}
}
