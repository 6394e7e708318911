package savings

import (
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

// InputError lists all problems of an input, by JSON path. The request's fields have the
// names of the service's body. A device's fields are below "devices[i]".
type InputError struct {
	Fields []pricing.FieldError
}

// Error joins the messages; each follows its field.
func (e *InputError) Error() string {
	words := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		words[i] = f.Field + " " + f.Message
	}
	return "savings: " + strings.Join(words, "; ")
}

func (e *InputError) check(ok bool, field, format string, args ...any) {
	if !ok {
		e.Fields = append(e.Fields, pricing.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
}

// The bounds of the inputs. The bounds of the thermodynamic values are wide. A value
// outside them is in a different unit than documented.
const (
	maxDays          = 366
	coldest, hottest = -50.0, 200.0 // the service's bounds, in either unit
	maxRate          = 100.0        // degrees per hour
	maxHeatTransfer  = 5.0          // per hour
	maxKw            = 100.0
	minutesADay      = 24 * 60
	weeksAYear       = 52
	daysAWeek        = 7
)

// validate returns one of the sentinel errors, an *InputError, or nil.
func (in *Input) validate() error {
	switch {
	case len(in.Devices) == 0:
		return ErrNoDevice
	case in.Prices == nil:
		return ErrNoPrices
	case in.Place == nil || in.Location == nil:
		return ErrNoPlace
	}
	problems := &InputError{}
	in.Request.validate(problems)
	problems.check(in.Request.Start.Date != nil || !in.Today.IsZero(), "start.date", "is required where the present day is not known")
	units := map[Units]bool{}
	for i := range in.Devices {
		in.Devices[i].validate(problems, fmt.Sprintf("devices[%d].", i))
		units[in.Devices[i].Units] = true
	}
	problems.check(len(units) == 1 || !in.Request.setsTemperature(), "devices",
		"have different units of temperature, so the request cannot name one")
	if len(problems.Fields) == 0 && in.Request.setsTemperature() {
		for i := range in.Devices {
			in.Request.checkBand(problems, &in.Devices[i])
		}
	}
	if len(problems.Fields) > 0 {
		return problems
	}
	return nil
}

func (r *Request) validate(p *InputError) {
	p.check(r.Type == Monthly || r.Type == Annual, "type", "must be monthly or annual")
	p.check(r.Comparison == "" || r.Comparison == Shift || r.Comparison == Setback, "comparison", "must be shift or setback")
	p.check(r.Start.Month == nil || r.Start.Date == nil, "start", "must have month or date, not both")
	if r.Start.Month != nil {
		p.check(*r.Start.Month >= 1 && *r.Start.Month <= 12, "start.month", "must be from 1 to 12")
	}
	if d := r.Start.Date; d != nil {
		p.check(d.Year >= 1970 && d.Year <= 2200, "start.date", "must be a date from 1970 to 2200")
	}
	p.check(r.Days == nil || *r.Days >= 1 && *r.Days <= maxDays, "days", "must be from 1 to %d", maxDays)
	for i, m := range r.Months {
		p.check(m >= 1 && m <= 12, fmt.Sprintf("months[%d]", i), "must be from 1 to 12")
	}
	p.check(r.Mode == nil || validMode(*r.Mode), "mode", "must be OFF, HEAT, COOL or AUTO")
	for _, t := range []struct {
		field string
		value *float64
	}{
		{"targetTemp", r.TargetTemp}, {"targetCoolSetpoint", r.TargetCoolSetpoint}, {"targetHeatSetpoint", r.TargetHeatSetpoint},
		{"minTemp", r.MinTemp}, {"maxTemp", r.MaxTemp},
	} {
		p.check(t.value == nil || *t.value > coldest && *t.value < hottest, t.field, "must be above %g and below %g", coldest, hottest)
	}
}

// checkBand checks the order of the request's temperatures. The device supplies missing
// temperatures.
func (r *Request) checkBand(p *InputError, d *Device) {
	s := r.settings(d.Settings)
	if s.Mode.heats() {
		p.check(s.Min <= s.Heat, "targetHeatSetpoint", "must be at least minTemp, which is %g: it is %g", s.Min, s.Heat)
		p.check(s.Heat <= s.Max, "targetHeatSetpoint", "must be at most maxTemp, which is %g: it is %g", s.Max, s.Heat)
	}
	if s.Mode.cools() {
		p.check(s.Min <= s.Cool, "targetCoolSetpoint", "must be at least minTemp, which is %g: it is %g", s.Min, s.Cool)
		p.check(s.Cool <= s.Max, "targetCoolSetpoint", "must be at most maxTemp, which is %g: it is %g", s.Max, s.Cool)
	}
	p.check(s.Mode != Auto || s.Heat <= s.Cool, "targetCoolSetpoint", "must be at least targetHeatSetpoint, which is %g: it is %g", s.Heat, s.Cool)
}

func (d *Device) validate(p *InputError, path string) {
	p.check(validUnits(d.Units), path+"systemDetails.tempUnits", "must be F or C")
	d.Settings.validate(p, path, settingsFields)
	p.check(d.HeatTransferCoefficient > 0 && d.HeatTransferCoefficient <= maxHeatTransfer, path+"heatTransferCoefficient",
		"must be above 0 and at most %g per hour: the device has no usable thermodynamic values", maxHeatTransfer)
	p.check(d.HeatingRate >= 0 && d.HeatingRate <= maxRate, path+"heatingRate", "must be from 0 to %g degrees per hour", maxRate)
	p.check(d.CoolingRate >= -maxRate && d.CoolingRate <= maxRate, path+"coolingRate", "must be within %g degrees per hour", maxRate)
	p.check(d.HeatingRate != 0 || d.CoolingRate != 0, path+"heatingRate", "or coolingRate must be other than 0")
	p.check(d.IrradianceCoefficient >= 0 && d.IrradianceCoefficient <= maxRate, path+"irradianceCoefficient",
		"must be from 0 to %g degrees per hour in 1 kW/m2", maxRate)
	d.Equipment.validate(p, path+"equipment.")
	if d.Schedule != nil {
		d.Schedule.validate(p, path+"schedule.")
	}
}

func (s *Schedule) validate(p *InputError, path string) {
	p.check(validUnits(s.Units), path+"tempUnits", "must be F or C")
	for i, w := range s.Weeks {
		p.check(w >= 0 && w < weeksAYear, fmt.Sprintf("%sweeks[%d]", path, i), "must be from 0 to %d", weeksAYear-1)
	}
	s.Default.validate(p, path, scheduleFields)
	for i := range s.Blocks {
		b, path := &s.Blocks[i], fmt.Sprintf("%sscheduleBlocks[%d].", path, i)
		p.check(b.StartMinute >= 0 && b.StartMinute < minutesADay, path+"startTimeMinutes", "must be from 0 to %d", minutesADay-1)
		p.check(b.EndMinute > b.StartMinute && b.EndMinute <= minutesADay, path+"endTimeMinutes", "must be after startTimeMinutes and at most %d", minutesADay)
		for j, day := range b.Days {
			p.check(day >= 0 && day < daysAWeek, fmt.Sprintf("%sdaysOfWeek[%d]", path, j), "must be from 0 (Sunday) to 6")
		}
		b.validate(p, path, blockFields)
	}
}

// The service's names for the settings of a device, a schedule and a block: mode, least,
// heat, cool, greatest.
var (
	settingsFields = [5]string{"systemDetails.defaultMode", "minTemp", "targetHeatSetpoint", "targetCoolSetpoint", "maxTemp"}
	scheduleFields = [5]string{"defaultMode", "defaultMinTemp", "defaultHeatSetpoint", "defaultCoolSetpoint", "defaultMaxTemp"}
	blockFields    = [5]string{"mode", "minTemp", "targetHeatSetpoint", "targetCoolSetpoint", "maxTemp"}
)

// validate checks min <= heat <= cool <= max, and the service's bounds.
func (s *Settings) validate(p *InputError, path string, names [5]string) {
	p.check(validMode(s.Mode), path+names[0], "must be OFF, HEAT, COOL or AUTO")
	for i, t := range []float64{s.Min, s.Heat, s.Cool, s.Max} {
		p.check(t > coldest && t < hottest, path+names[i+1], "must be above %g and below %g", coldest, hottest)
	}
	p.check(s.Min <= s.Heat, path+names[2], "must be at least %s", names[1])
	p.check(s.Heat <= s.Cool, path+names[3], "must be at least %s", names[2])
	p.check(s.Cool <= s.Max, path+names[4], "must be at least %s", names[3])
}

func validMode(m Mode) bool { return m == Off || m == Heat || m == Cool || m == Auto }

func validUnits(u Units) bool { return u == Celsius || u == Fahrenheit }
