package storage

// UserPreferences is a device's schedule, with temperatures in its own TempUnits. It is
// stored under the device's identifier.
type UserPreferences struct {
	DeviceID            string          `json:"-"`
	Name                string          `json:"name" minLength:"1" maxLength:"255" example:"Always"`
	Enabled             bool            `json:"enabled" doc:"Whether the schedule applies." example:"true"`
	Weeks               []int           `json:"weeks" itemsMinimum:"0" itemsMaximum:"51" doc:"The weeks of the year, 0 to 51, to which the schedule applies; empty means all." example:"[]"`
	TempUnits           TempUnits       `json:"tempUnits"`
	DefaultMode         Mode            `json:"defaultMode"`
	DefaultMaxTemp      float64         `json:"defaultMaxTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"78"`
	DefaultMinTemp      float64         `json:"defaultMinTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"65"`
	DefaultCoolSetpoint float64         `json:"defaultCoolSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"75"`
	DefaultHeatSetpoint float64         `json:"defaultHeatSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"68"`
	ScheduleBlocks      []ScheduleBlock `json:"scheduleBlocks" doc:"Where no block applies, the default temperatures do. Blocks do not overlap on a day."`
	Base
}

// ScheduleBlock is a part of the day on some days of the week.
type ScheduleBlock struct {
	_ struct{} `required:"endTimeMinutes,mode,daysOfWeek,scheduleType"`

	StartTimeMinutes   int      `json:"startTimeMinutes" minimum:"0" maximum:"1439" doc:"Minutes after the local midnight." example:"360"`
	EndTimeMinutes     int      `json:"endTimeMinutes" minimum:"1" maximum:"1440" doc:"Minutes after the local midnight, after startTimeMinutes." example:"540"`
	Mode               Mode     `json:"mode"`
	TargetCoolSetpoint *float64 `json:"targetCoolSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" doc:"Null leaves cooling to maxTemp." example:"75"`
	TargetHeatSetpoint float64  `json:"targetHeatSetpoint" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"68"`
	MaxTemp            float64  `json:"maxTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"78"`
	MinTemp            float64  `json:"minTemp" exclusiveMinimum:"-50" exclusiveMaximum:"200" example:"65"`
	DaysOfWeek         []int    `json:"daysOfWeek" minItems:"1" itemsMinimum:"0" itemsMaximum:"6" doc:"0 is Sunday." example:"[1,2,3,4,5]"`
	ScheduleType       string   `json:"scheduleType" enum:"RECURRING" example:"RECURRING"`
}

// Recurring is the only schedule type.
const Recurring = "RECURRING"

// NewUserPreferences returns an enabled schedule without blocks.
func NewUserPreferences(org, deviceID string) UserPreferences {
	u := UserPreferences{
		DeviceID: deviceID, Enabled: true, Weeks: []int{}, ScheduleBlocks: []ScheduleBlock{},
		TempUnits: Fahrenheit, DefaultMode: ModeAuto,
		DefaultMaxTemp: 78, DefaultMinTemp: 65, DefaultCoolSetpoint: 75, DefaultHeatSetpoint: 68,
	}
	u.OrganizationID = org
	return u
}

// UserPreferencesRef names the preferences of a device.
func UserPreferencesRef(org, deviceID string) Ref { return Ref{KindUserPreferences, org, deviceID} }

// Ref names the preferences by their device.
func (u *UserPreferences) Ref() Ref { return UserPreferencesRef(u.OrganizationID, u.DeviceID) }

// setID restores the identifier, which the JSON form omits.
func (u *UserPreferences) setID(id string) { u.DeviceID = id }

// Validate names every wrong field.
func (u *UserPreferences) Validate() error {
	var p Problems
	checkID(&p, "deviceId", u.DeviceID)
	checkText(&p, "name", u.Name, 1, 255)
	for i, week := range u.Weeks {
		p.Check(week >= 0 && week <= 51, index("weeks", i), "must be a week from 0 to 51")
	}
	checkEnum(&p, "tempUnits", u.TempUnits, Fahrenheit, Celsius)
	checkMode(&p, "defaultMode", u.DefaultMode)
	checkBand(&p, "", temperatures{
		"defaultMinTemp", u.DefaultMinTemp, "defaultHeatSetpoint", u.DefaultHeatSetpoint,
		"defaultCoolSetpoint", u.DefaultCoolSetpoint, "defaultMaxTemp", u.DefaultMaxTemp,
	})
	for i := range u.ScheduleBlocks {
		u.checkBlock(&p, i)
	}
	return p.Err()
}

func (u *UserPreferences) checkBlock(p *Problems, i int) {
	b, path := &u.ScheduleBlocks[i], index("scheduleBlocks", i)+"."
	p.Check(b.StartTimeMinutes >= 0 && b.StartTimeMinutes < 1440, path+"startTimeMinutes", "must be a minute from 0 to 1439")
	p.Check(b.EndTimeMinutes > b.StartTimeMinutes && b.EndTimeMinutes <= 1440, path+"endTimeMinutes", "must be after startTimeMinutes and at most 1440")
	checkMode(p, path+"mode", b.Mode)
	p.Check(b.ScheduleType == Recurring, path+"scheduleType", "must be %s", Recurring)
	p.Check(len(b.DaysOfWeek) > 0, path+"daysOfWeek", "must name at least one day")
	for d, day := range b.DaysOfWeek {
		p.Check(day >= 0 && day <= 6, index(path+"daysOfWeek", d), "must be a day from 0 (Sunday) to 6")
	}
	cool := b.MaxTemp
	if b.TargetCoolSetpoint != nil {
		cool = *b.TargetCoolSetpoint
	}
	checkBand(p, path, temperatures{
		"minTemp", b.MinTemp, "targetHeatSetpoint", b.TargetHeatSetpoint,
		"targetCoolSetpoint", cool, "maxTemp", b.MaxTemp,
	})
	for j := range i {
		if overlap(b, &u.ScheduleBlocks[j]) {
			p.Addf(index("scheduleBlocks", i), "overlaps %s on a day", index("scheduleBlocks", j))
		}
	}
}

// temperatures holds a band's four temperatures with their field names.
type temperatures struct {
	minField  string
	min       float64
	heatField string
	heat      float64
	coolField string
	cool      float64
	maxField  string
	max       float64
}

// checkBand requires min <= heat <= cool <= max, all within the service's bounds.
func checkBand(p *Problems, path string, t temperatures) {
	checkTemp(p, path+t.minField, t.min)
	checkTemp(p, path+t.heatField, t.heat)
	checkTemp(p, path+t.coolField, t.cool)
	checkTemp(p, path+t.maxField, t.max)
	p.Check(t.min <= t.heat, path+t.heatField, "must be at least %s", t.minField)
	p.Check(t.heat <= t.cool, path+t.coolField, "must be at least %s", t.heatField)
	p.Check(t.cool <= t.max, path+t.maxField, "must be at least %s", t.coolField)
}

func overlap(a, b *ScheduleBlock) bool {
	if a.StartTimeMinutes >= b.EndTimeMinutes || b.StartTimeMinutes >= a.EndTimeMinutes {
		return false
	}
	for _, x := range a.DaysOfWeek {
		for _, y := range b.DaysOfWeek {
			if x == y {
				return true
			}
		}
	}
	return false
}
