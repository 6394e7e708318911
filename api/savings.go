package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

type savingsInput struct{ wire.SavingsInput }

func (in *savingsInput) check(c *rest.Call) { in.Check(&c.Wrong) }

func (s *server) estimateSavings(ctx context.Context, c *rest.Call, in *savingsInput) (savings.Result, error) {
	home, err := storage.Get[storage.Home](s.Store, storage.KindHome.Ref(c.Org, c.ID))
	if err != nil {
		return savings.Result{}, err
	}
	input := savings.Input{HomeID: c.ID, Request: in.Request}
	if location, ok := storage.Location(home.Timezone); ok {
		input.Location, input.Today = location, pricing.DateOf(c.Now.In(location))
	}
	if place, ok := eligibility.Locate(home.Zipcode); ok {
		input.Place = &place.Place
	}
	input.Prices = func(w pricing.Window) ([]float64, error) {
		return storage.Query(s.Store, func(v storage.View) ([]float64, error) { return s.Pricer.HomePrices(v, &home, w) })
	}
	result, err := s.estimate(ctx, c, input)
	if err == nil {
		s.storeRun(ctx, c, &result)
	}
	return result, err
}

// storeRun stores the results of an estimate on the devices. The estimate is valid without
// them. A storage error is therefore only logged.
func (s *server) storeRun(ctx context.Context, c *rest.Call, result *savings.Result) {
	for i := range result.Devices {
		r := &result.Devices[i]
		_, err := storage.Update(ctx, s.Store, storage.KindHVACDevice.Ref(c.Org, r.DeviceID), func(d *storage.HVACDevice) error {
			return d.NoteRun(result.Type, r, storage.Time{Time: c.Now})
		})
		if err != nil && !errors.Is(err, storage.ErrConflict) { // another run has stored equivalent results
			s.Log.WarnContext(ctx, "optimization run not stored", "request", c.RequestID, "device", r.DeviceID, "error", err)
		}
	}
}

// estimate waits for a slot and runs a savings estimate. It holds the slot when it searches
// the organization's devices, too.
func (s *server) estimate(ctx context.Context, c *rest.Call, input savings.Input) (savings.Result, error) {
	done, pause, err := s.Estimates.turn(ctx, c.Payer())
	if err != nil {
		return savings.Result{}, err
	}
	defer done()
	input.Devices, err = storage.Query(s.Store, func(v storage.View) ([]savings.Device, error) { return devicesOf(v, c.Org, c.ID) })
	if err != nil {
		return savings.Result{}, err
	}
	input.Rest = pause
	result, err := savings.Estimate(input)
	switch {
	case err == nil:
		return *result, nil
	case errors.Is(err, savings.ErrNoDevice):
		err = rest.Invalid("devices", "the home has no linked heating or cooling device: import an hvacDevice with its homeId, or link a device")
	case errors.Is(err, savings.ErrNoPlace):
		err = rest.Invalid("zipcode", "is required with a known zipcode and a time zone")
	}
	return savings.Result{}, err
}

// devicesOf returns the active devices of a home: linked and not deleted.
func devicesOf(v storage.View, org, homeID string) ([]savings.Device, error) {
	var devices []savings.Device
	for d, err := range storage.DevicesOf(v, org, homeID, "") {
		if err != nil {
			return nil, err
		}
		if !d.Linked || d.Deleted {
			continue
		}
		device := savingsDevice(&d)
		if device.Schedule, err = scheduleOf(v, org, d.ID); err != nil {
			return nil, err
		}
		devices = append(devices, device)
	}
	return devices, nil
}

func savingsDevice(d *storage.HVACDevice) savings.Device {
	return savings.Device{
		ID: d.ID, Units: d.Details.TempUnits,
		Settings: savings.Settings{
			Mode: d.Details.DefaultMode,
			Min:  d.MinTemp, Heat: d.TargetHeatSetpoint, Cool: d.TargetCoolSetpoint, Max: d.MaxTemp,
		},
		HeatingRate: d.HeatingRate, CoolingRate: d.CoolingRate,
		HeatTransferCoefficient: d.HeatTransferCoefficient, IrradianceCoefficient: d.IrradianceCoefficient,
		Equipment: valueOr(d.Equipment, savings.Equipment{}),
	}
}

// scheduleOf returns the schedule of a device, or nil if it has none.
func scheduleOf(v storage.View, org, deviceID string) (*savings.Schedule, error) {
	u, _, err := storage.Read[storage.UserPreferences](v, storage.KindUserPreferences.Ref(org, deviceID))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &savings.Schedule{
		Units: u.TempUnits, Enabled: u.Enabled, Weeks: u.Weeks,
		Default: savings.Settings{
			Mode: u.DefaultMode,
			Min:  u.DefaultMinTemp, Heat: u.DefaultHeatSetpoint, Cool: u.DefaultCoolSetpoint, Max: u.DefaultMaxTemp,
		},
	}
	for _, b := range u.ScheduleBlocks {
		s.Blocks = append(s.Blocks, savings.Block{
			StartMinute: b.StartTimeMinutes, EndMinute: b.EndTimeMinutes, Days: b.DaysOfWeek,
			Settings: savings.Settings{Mode: b.Mode, Min: b.MinTemp, Heat: b.TargetHeatSetpoint, Cool: valueOr(b.TargetCoolSetpoint, b.MaxTemp), Max: b.MaxTemp},
		})
	}
	return s, nil
}
