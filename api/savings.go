package api

import (
	"bytes"
	"context"
	"errors"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// savingsInput asks what optimizing a home's heating and cooling would save.
// Temperatures are in the devices' units.
type savingsInput struct {
	Type savings.Type `json:"type"`
	// TargetTemp stands for both setpoints, where they are not given.
	TargetTemp         *float64      `json:"targetTemp"`
	TargetCoolSetpoint *float64      `json:"targetCoolSetpoint"`
	TargetHeatSetpoint *float64      `json:"targetHeatSetpoint"`
	MinTemp            *float64      `json:"minTemp"`
	MaxTemp            *float64      `json:"maxTemp"`
	Mode               *savings.Mode `json:"mode"`
	// Start is by default the present month.
	Start *savingsStart `json:"start"`
	// Days is by default those of the month, or of the year.
	Days *int `json:"days"`
	// Months are the calendar months that count, all where it is left out or
	// null.
	Months *[]int `json:"months"`

	request savings.Request
}

// savingsStart is a month, the next of that name that has not ended, or a date.
type savingsStart struct {
	// Month is from 1, January, to 12.
	Month *int `json:"month"`
	// Date is such as 2026-07-01.
	Date *string `json:"date"`
}

func (in *savingsInput) check(_ *server, _ *call, p *problems) {
	in.request = savings.Request{
		Type: in.Type, Days: in.Days, Mode: in.Mode, TargetTemp: in.TargetTemp,
		TargetHeatSetpoint: in.TargetHeatSetpoint, TargetCoolSetpoint: in.TargetCoolSetpoint,
		MinTemp: in.MinTemp, MaxTemp: in.MaxTemp,
	}
	if in.Months != nil {
		in.request.Months = *in.Months
	}
	if in.Start != nil {
		in.request.Start.Month = in.Start.Month
		if in.Start.Date != nil {
			date, err := pricing.ParseDate(*in.Start.Date)
			p.Check(err == nil, "start.date", "must be a date such as 2026-07-01")
			in.request.Start.Date = &date
		}
	}
	_ = p.addInput(in.request.Validate()) // nothing but field errors
}

// addInput adds the fields of a *savings.InputError and returns every other error.
func (p *problems) addInput(err error) error {
	var wrong *savings.InputError
	if !errors.As(err, &wrong) {
		return err
	}
	fields := make([]storage.FieldError, len(wrong.Fields))
	for i, f := range wrong.Fields {
		fields[i] = storage.FieldError{Field: f.Field, Message: f.Message}
	}
	p.add(fields)
	return nil
}

func (s *server) estimateSavings(ctx context.Context, c *call, in *savingsInput) (savings.Result, error) {
	var home storage.Home
	input := savings.Input{HomeID: c.id, Request: in.request}
	err := s.Store.View(func(v storage.View) (err error) {
		if home, _, err = storage.Read[storage.Home](v, storage.HomeRef(c.org, c.id)); err != nil {
			return err
		}
		input.Devices, err = devicesOf(v, c.org, c.id)
		return err
	})
	if err != nil {
		return savings.Result{}, err
	}
	if location, ok := storage.Location(home.Timezone); ok {
		now := c.now.In(location)
		input.Location, input.Today = location, pricing.Date{Year: now.Year(), Month: now.Month(), Day: now.Day()}
	}
	if place, ok := eligibility.Locate(home.Zipcode); ok {
		input.Place = &savings.Place{Lat: place.Lat, Lon: place.Lon}
	}
	input.Prices = func(w pricing.Window) (prices []float64, err error) {
		err = s.Store.View(func(v storage.View) error {
			prices, err = s.Book.ImportPrices(v, &home, w)
			return err
		})
		return prices, err
	}
	result, err := s.estimate(ctx, input)
	if err == nil {
		s.noteRun(ctx, c, &result)
	}
	return result, err
}

// noteRun leaves what an estimate found on the devices. The estimate is right
// without it, so what cannot be stored is said to the operator alone.
func (s *server) noteRun(ctx context.Context, c *call, result *savings.Result) {
	for i := range result.Devices {
		r := &result.Devices[i]
		_, err := storage.Update(ctx, s.Store, storage.HVACDeviceRef(c.org, r.DeviceID), func(d *storage.HVACDevice) error {
			return d.NoteRun(result.Type, r, storage.Time{Time: c.now})
		})
		if err != nil && !errors.Is(err, storage.ErrConflict) { // another run, which is as good
			s.Log.WarnContext(ctx, "an optimization run could not be stored", "request", c.requestID, "device", r.DeviceID, "error", err)
		}
	}
}

// estimate takes its turn and estimates.
func (s *server) estimate(ctx context.Context, input savings.Input) (savings.Result, error) {
	done, rest, err := s.Estimates.turn(ctx)
	if err != nil {
		return savings.Result{}, err
	}
	defer done()
	input.Rest = rest
	result, err := savings.Estimate(input)
	if err == nil {
		return *result, nil
	}
	var p problems
	switch {
	case errors.Is(err, savings.ErrNoDevice):
		p.Addf("devices", "the home has no heating or cooling device that is linked")
	case errors.Is(err, savings.ErrNoPlace):
		p.Addf("zipcode", "the home must have a known zipcode and a time zone")
	default:
		err = p.addInput(err)
	}
	if wrong := p.Err(); wrong != nil {
		return savings.Result{}, wrong
	}
	return savings.Result{}, err
}

// devicesOf are the devices of a home that count: linked and not deleted. The
// stored text tells most others apart without decoding it.
func devicesOf(v storage.View, org, homeID string) ([]savings.Device, error) {
	var devices []savings.Device
	var failed error
	mark := []byte(`"homeId":"` + homeID + `"`)
	err := v.Scan(storage.KindHVACDevice, org, "", func(r storage.Record) bool {
		if r.Deleted || !bytes.Contains(r.Value, mark) {
			return true
		}
		d, err := storage.Decode[storage.HVACDevice](r)
		if err != nil {
			failed = err
			return false
		}
		if d.HomeID != homeID || !d.Linked || d.Deleted {
			return true
		}
		device := savingsDevice(&d)
		device.Schedule, failed = scheduleOf(v, org, d.ID)
		devices = append(devices, device)
		return failed == nil
	})
	return devices, errors.Join(err, failed)
}

func savingsDevice(d *storage.HVACDevice) savings.Device {
	return savings.Device{
		ID: d.ID, Units: savings.Units(d.Details.TempUnits),
		Settings: savings.Settings{
			Mode: savings.Mode(d.Details.DefaultMode),
			Min:  d.MinTemp, Heat: d.TargetHeatSetpoint, Cool: d.TargetCoolSetpoint, Max: d.MaxTemp,
		},
		HeatingRate: d.HeatingRate, CoolingRate: d.CoolingRate,
		HeatTransferCoefficient: d.HeatTransferCoefficient, IrradianceCoefficient: d.IrradianceCoefficient,
	}
}

// scheduleOf is the schedule of a device, nil when it has none.
func scheduleOf(v storage.View, org, deviceID string) (*savings.Schedule, error) {
	u, _, err := storage.Read[storage.UserPreferences](v, storage.UserPreferencesRef(org, deviceID))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &savings.Schedule{
		Units: savings.Units(u.TempUnits), Enabled: u.Enabled, Weeks: u.Weeks,
		Default: savings.Settings{
			Mode: savings.Mode(u.DefaultMode),
			Min:  u.DefaultMinTemp, Heat: u.DefaultHeatSetpoint, Cool: u.DefaultCoolSetpoint, Max: u.DefaultMaxTemp,
		},
	}
	for _, b := range u.ScheduleBlocks {
		cool := b.MaxTemp // a block without a setpoint for cooling leaves it to the greatest temperature
		if b.TargetCoolSetpoint != nil {
			cool = *b.TargetCoolSetpoint
		}
		s.Blocks = append(s.Blocks, savings.Block{
			StartMinute: b.StartTimeMinutes, EndMinute: b.EndTimeMinutes, Days: b.DaysOfWeek,
			Settings: savings.Settings{Mode: savings.Mode(b.Mode), Min: b.MinTemp, Heat: b.TargetHeatSetpoint, Cool: cool, Max: b.MaxTemp},
		})
	}
	return s, nil
}
