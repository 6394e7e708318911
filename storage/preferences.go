package storage

import (
	"slices"

	"github.com/gridhook/gridhook/pricing/savings"
)

// UserPreferences is a device's schedule, with temperatures in its own TempUnits. It is
// stored under the device's identifier.
type UserPreferences struct {
	DeviceID            string          `json:"-"`
	Name                string          `json:"name" minLength:"1" maxLength:"255" example:"Always"`
	Enabled             bool            `json:"enabled" doc:"Whether the schedule applies." example:"true"`
	Weeks               []int           `json:"weeks" itemsMinimum:"0" itemsMaximum:"51" doc:"The weeks of the year, 0 to 51, of the schedule. An empty list means all." example:"[]"`
	TempUnits           savings.Units   `json:"tempUnits"`
	DefaultMode         savings.Mode    `json:"defaultMode"`
	DefaultMaxTemp      float64         `json:"defaultMaxTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"78"`
	DefaultMinTemp      float64         `json:"defaultMinTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"65"`
	DefaultCoolSetpoint float64         `json:"defaultCoolSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"75"`
	DefaultHeatSetpoint float64         `json:"defaultHeatSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"68"`
	ScheduleBlocks      []ScheduleBlock `json:"scheduleBlocks" doc:"The default temperatures apply outside of blocks. Blocks do not overlap on a day."`
	Base
}

// ScheduleBlock is a part of the day on some days of the week.
type ScheduleBlock struct {
	_ struct{} `required:"endTimeMinutes,mode,daysOfWeek,scheduleType"`

	StartTimeMinutes   int          `json:"startTimeMinutes" minimum:"0" maximum:"1439" doc:"Minutes after the local midnight." example:"360"`
	EndTimeMinutes     int          `json:"endTimeMinutes" minimum:"1" maximum:"1440" doc:"Minutes after the local midnight, after startTimeMinutes." example:"540"`
	Mode               savings.Mode `json:"mode"`
	TargetCoolSetpoint *float64     `json:"targetCoolSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"null cools to maxTemp." example:"75"`
	TargetHeatSetpoint float64      `json:"targetHeatSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"68"`
	MaxTemp            float64      `json:"maxTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"78"`
	MinTemp            float64      `json:"minTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"65"`
	DaysOfWeek         []int        `json:"daysOfWeek" minItems:"1" itemsMinimum:"0" itemsMaximum:"6" doc:"0 is Sunday." example:"[1,2,3,4,5]"`
	ScheduleType       string       `json:"scheduleType" enum:"RECURRING" example:"RECURRING"`
}

// NewUserPreferences returns an enabled schedule without blocks.
func NewUserPreferences(org, deviceID string) UserPreferences {
	return UserPreferences{
		DeviceID: deviceID, Enabled: true, Weeks: []int{}, ScheduleBlocks: []ScheduleBlock{},
		TempUnits: savings.Fahrenheit, DefaultMode: savings.Auto,
		DefaultMaxTemp: 78, DefaultMinTemp: 65, DefaultCoolSetpoint: 75, DefaultHeatSetpoint: 68,
		Base: Base{OrganizationID: org},
	}
}

// Ref names the preferences by their device.
func (u *UserPreferences) Ref() Ref { return KindUserPreferences.Ref(u.OrganizationID, u.DeviceID) }

// setID restores the identifier, which the JSON form omits.
func (u *UserPreferences) setID(id string) { u.DeviceID = id }

// Check adds every wrong field.
func (u *UserPreferences) Check(p *Problems) {
	checkEnum(p, "tempUnits", u.TempUnits, savings.Fahrenheit, savings.Celsius)
	checkMode(p, "defaultMode", u.DefaultMode)
	checkBand(p, "", [4]string{"defaultMinTemp", "defaultHeatSetpoint", "defaultCoolSetpoint", "defaultMaxTemp"},
		[4]float64{u.DefaultMinTemp, u.DefaultHeatSetpoint, u.DefaultCoolSetpoint, u.DefaultMaxTemp})
	for i := range u.ScheduleBlocks {
		u.checkBlock(p, i)
	}
}

func (u *UserPreferences) checkBlock(p *Problems, i int) {
	b, path := &u.ScheduleBlocks[i], index("scheduleBlocks", i)+"."
	p.Check(b.EndTimeMinutes > b.StartTimeMinutes, path+"endTimeMinutes", "must be after startTimeMinutes")
	checkBand(p, path, [4]string{"minTemp", "targetHeatSetpoint", "targetCoolSetpoint", "maxTemp"},
		[4]float64{b.MinTemp, b.TargetHeatSetpoint, known(b.TargetCoolSetpoint, b.MaxTemp), b.MaxTemp})
	other := slices.IndexFunc(u.ScheduleBlocks[:i], func(earlier ScheduleBlock) bool { return overlap(b, &earlier) })
	p.Check(other < 0, index("scheduleBlocks", i), "overlaps %s on a day", index("scheduleBlocks", other))
}

// checkBand requires that no temperature of a band is below the temperature before it:
// minimum, heating setpoint, cooling setpoint, maximum.
func checkBand(p *Problems, path string, fields [4]string, temperatures [4]float64) {
	for i := 1; i < len(fields); i++ {
		p.Check(temperatures[i-1] <= temperatures[i], path+fields[i], "must be at least %s", fields[i-1])
	}
}

func overlap(a, b *ScheduleBlock) bool {
	return a.StartTimeMinutes < b.EndTimeMinutes && b.StartTimeMinutes < a.EndTimeMinutes && a.days()&b.days() != 0
}

// days returns the days of the week as a set of bits. A tag has checked that they are 0 to 6.
func (b *ScheduleBlock) days() (set int) {
	for _, day := range b.DaysOfWeek {
		set |= 1 << (day & 7)
	}
	return set
}
