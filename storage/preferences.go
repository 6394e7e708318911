package storage

// UserPreferences is a device's schedule. Temperatures are in its own TempUnits.
// It is stored under the identifier of its device.
type UserPreferences struct {
	DeviceID            string          `json:"-"`
	Name                string          `json:"name"`
	Enabled             bool            `json:"enabled"`
	Weeks               []int           `json:"weeks"`
	TempUnits           TempUnits       `json:"tempUnits"`
	DefaultMode         Mode            `json:"defaultMode"`
	DefaultMaxTemp      float64         `json:"defaultMaxTemp"`
	DefaultMinTemp      float64         `json:"defaultMinTemp"`
	DefaultCoolSetpoint float64         `json:"defaultCoolSetpoint"`
	DefaultHeatSetpoint float64         `json:"defaultHeatSetpoint"`
	ScheduleBlocks      []ScheduleBlock `json:"scheduleBlocks"`
	Base
}

// ScheduleBlock is a stretch of a day on some days of the week.
type ScheduleBlock struct {
	StartTimeMinutes   int      `json:"startTimeMinutes"`
	EndTimeMinutes     int      `json:"endTimeMinutes"`
	Mode               Mode     `json:"mode"`
	TargetCoolSetpoint *float64 `json:"targetCoolSetpoint"`
	TargetHeatSetpoint float64  `json:"targetHeatSetpoint"`
	MaxTemp            float64  `json:"maxTemp"`
	MinTemp            float64  `json:"minTemp"`
	DaysOfWeek         []int    `json:"daysOfWeek"`
	ScheduleType       string   `json:"scheduleType"`
}

// Recurring is the one schedule type.
const Recurring = "RECURRING"

// NewUserPreferences is an enabled schedule without blocks.
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

// Ref names the preferences, by their device.
func (u *UserPreferences) Ref() Ref { return UserPreferencesRef(u.OrganizationID, u.DeviceID) }

// setID restores what the JSON form leaves out.
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

// temperatures are a band's four temperatures with their field names.
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

// checkBand wants min <= heat <= cool <= max, all within the service's bounds.
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
