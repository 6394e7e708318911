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
		"request": {func(in *savings.Input, _ *savings.Device) {
			in.Request = savings.Request{
				Type: "weekly", Start: savings.Start{Month: ptr(13), Date: &pricing.Date{Year: 1, Month: 1, Day: 1}}, Days: ptr(0),
				Months: []int{1, 0}, Comparison: "before", Mode: ptr(savings.Mode("DRY")), TargetTemp: ptr(200.0), MinTemp: ptr(-50.0), MaxTemp: ptr(math.NaN()),
			}
		}, []string{"type", "comparison", "start", "start.month", "start.date", "days", "months[1]", "mode", "targetTemp", "minTemp", "maxTemp"}},
		"too many days": {func(in *savings.Input, _ *savings.Device) { in.Request.Days = ptr(367) }, []string{"days"}},
		"no today":      {func(in *savings.Input, _ *savings.Device) { in.Today = pricing.Date{} }, []string{"start.date"}},
		"device": {func(_ *savings.Input, d *savings.Device) {
			*d = savings.Device{
				Units: "K", Settings: savings.Settings{Mode: "DRY", Min: 70, Heat: 69, Cool: 68, Max: 67},
				HeatingRate: -1, CoolingRate: 101, IrradianceCoefficient: math.NaN(),
				Equipment: savings.Equipment{HeatSource: "COAL", CapacityKw: -1, SEER2: 51, HSPF2: 1, AFUE: 1.1, AuxiliaryKw: ptr(-1.0), InternalGainsKw: ptr(21.0), GasPrice: -1},
			}
		}, []string{
			"devices[0].systemDetails.tempUnits", "devices[0].systemDetails.defaultMode", "devices[0].targetHeatSetpoint",
			"devices[0].targetCoolSetpoint", "devices[0].maxTemp", "devices[0].heatTransferCoefficient", "devices[0].heatingRate",
			"devices[0].coolingRate", "devices[0].irradianceCoefficient", "devices[0].equipment.heatSource", "devices[0].equipment.capacityKw",
			"devices[0].equipment.seer2", "devices[0].equipment.hspf2", "devices[0].equipment.afue", "devices[0].equipment.gasPrice",
			"devices[0].equipment.auxiliaryKw", "devices[0].equipment.internalGainsKw",
		}},
		"no rates": {func(_ *savings.Input, d *savings.Device) { d.HeatingRate, d.CoolingRate = 0, 0 }, []string{"devices[0].heatingRate"}},
		"schedule": {func(_ *savings.Input, d *savings.Device) {
			d.Schedule = &savings.Schedule{
				Units: "", Weeks: []int{0, 52}, Default: savings.Settings{Mode: "", Min: 1, Heat: 1, Cool: 1, Max: 0},
				Blocks: []savings.Block{{StartMinute: -1, EndMinute: 1441, Days: []int{7}, Settings: savings.Settings{Mode: savings.Off, Max: -1}}},
			}
		}, []string{
			"devices[0].schedule.tempUnits", "devices[0].schedule.weeks[1]", "devices[0].schedule.defaultMode",
			"devices[0].schedule.defaultMaxTemp", "devices[0].schedule.scheduleBlocks[0].startTimeMinutes",
			"devices[0].schedule.scheduleBlocks[0].endTimeMinutes", "devices[0].schedule.scheduleBlocks[0].daysOfWeek[0]",
			"devices[0].schedule.scheduleBlocks[0].maxTemp",
		}},
		"setpoints out of the device's band": {func(in *savings.Input, _ *savings.Device) {
			in.Request.TargetHeatSetpoint, in.Request.TargetCoolSetpoint = ptr(60.0), ptr(79.0)
		}, []string{"targetHeatSetpoint", "targetCoolSetpoint"}},
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
			var wrong *savings.InputError
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v", err)
			}
			var fields []string
			for _, f := range wrong.Fields {
				fields = append(fields, f.Field)
				if !strings.Contains(err.Error(), f.Field+" "+f.Message) {
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
