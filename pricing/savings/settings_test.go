package savings

import (
	"math"
	"testing"
)

func TestTimetable_FollowsSchedule(t *testing.T) {
	own := Settings{Mode: Auto, Min: 60, Heat: 65, Cool: 80, Max: 85}
	usual := Settings{Mode: Auto, Min: 62, Heat: 66, Cool: 76, Max: 79}
	work := Settings{Mode: Cool, Min: 15, Heat: 16, Cool: 28, Max: 30}
	schedule := Schedule{
		Units: Celsius, Enabled: true, Weeks: []int{10, 51},
		Default: usual.convert(Fahrenheit.celsius),
		Blocks: []Block{
			{StartMinute: 8*60 + 5, EndMinute: 17 * 60, Days: []int{1, 2}, Settings: work},
			{StartMinute: 0, EndMinute: 24 * 60, Days: []int{2}, Settings: own.convert(Fahrenheit.celsius)},
		},
	}
	d := Device{Units: Fahrenheit, Settings: own, Schedule: &schedule}
	heat := Heat
	target, least := 70.0, 58.0
	at := func(week, weekday uint8, minute int) moment {
		return moment{week: week, weekday: weekday, quarter: uint8(minute / 15)}
	}
	for name, c := range map[string]struct {
		request Request
		at      moment
		want    Settings
	}{
		"outside the blocks":                  {Request{}, at(10, 0, 600), usual.convert(Fahrenheit.celsius)},
		"outside the weeks":                   {Request{}, at(9, 1, 600), own.convert(Fahrenheit.celsius)},
		"the year's last week":                {Request{}, at(51, 3, 600), usual.convert(Fahrenheit.celsius)},
		"in a block":                          {Request{}, at(10, 1, 600), work},
		"before the block's minute":           {Request{}, at(10, 1, 480), usual.convert(Fahrenheit.celsius)},
		"at the quarter after it":             {Request{}, at(10, 1, 495), work},
		"at the block's end":                  {Request{}, at(10, 1, 1020), usual.convert(Fahrenheit.celsius)},
		"the first of two":                    {Request{}, at(10, 2, 600), work},
		"the second of two":                   {Request{}, at(10, 2, 1380), own.convert(Fahrenheit.celsius)},
		"a mode keeps the schedule":           {Request{Mode: &heat}, at(10, 1, 600), Settings{Mode: Heat, Min: 15, Heat: 16, Cool: 28, Max: 30}},
		"a temperature replaces the schedule": {Request{TargetTemp: &target}, at(10, 1, 600), Settings{Auto, 60, 68.5, 71.5, 85}.convert(Fahrenheit.celsius)},
		"unset values are the device's":       {Request{MinTemp: &least, Mode: &heat}, at(10, 1, 600), Settings{Heat, 58, 65, 80, 85}.convert(Fahrenheit.celsius)},
		"a setpoint goes before the target": {
			Request{TargetTemp: &target, TargetHeatSetpoint: &least}, at(0, 0, 0), Settings{Auto, 60, 58, 70, 85}.convert(Fahrenheit.celsius),
		},
	} {
		t.Run(name, func(t *testing.T) {
			held, _ := timetables(&d, &c.request)
			if got := *held.at(c.at); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	schedule.Enabled = false
	held, _ := timetables(&d, &Request{})
	if got := *held.at(at(10, 1, 600)); got != own.convert(Fahrenheit.celsius) {
		t.Errorf("a schedule that is not enabled gives %+v", got)
	}
}

func TestMostComfortable(t *testing.T) {
	for name, c := range map[string]struct {
		all  []Settings
		want Settings
	}{
		"AUTO":                     {[]Settings{{Auto, 10, 20, 25, 30}, {Auto, 12, 16, 24, 31}}, Settings{Auto, 10, 20, 24, 31}},
		"setpoints of a mode only": {[]Settings{{Heat, 10, 20, 22, 30}, {Cool, 10, 23, 26, 30}}, Settings{Auto, 10, 20, 26, 30}},
		"OFF has none":             {[]Settings{{Off, 10, 22, 23, 30}, {Heat, 10, 18, 26, 30}, {Heat, 10, 20, 26, 30}}, Settings{Heat, 10, 20, 23, 30}},
		"cooling only":             {[]Settings{{Off, 10, 22, 23, 30}, {Cool, 10, 20, 26, 30}}, Settings{Cool, 10, 22, 26, 30}},
		"all are OFF":              {[]Settings{{Off, 10, 22, 23, 30}}, Settings{Off, 10, 22, 23, 30}},
	} {
		if got := mostComfortable(c.all); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestUnits_RoundTrip(t *testing.T) {
	for _, c := range []struct{ fahrenheit, celsius float64 }{{32, 0}, {212, 100}, {-40, -40}, {68, 20}} {
		if got := Fahrenheit.celsius(c.fahrenheit); math.Abs(got-c.celsius) > 1e-12 {
			t.Errorf("%v F is %v C", c.fahrenheit, got)
		}
		if got := Fahrenheit.from(c.celsius); math.Abs(got-c.fahrenheit) > 1e-12 {
			t.Errorf("%v C is %v F", c.celsius, got)
		}
	}
	if Fahrenheit.degrees(9) != 5 || Celsius.degrees(9) != 9 || Celsius.from(3) != 3 || Celsius.celsius(3) != 3 {
		t.Error("a difference or a temperature in C is converted wrongly")
	}
}

func TestSeasons_ByDay(t *testing.T) {
	var clock []moment
	var added []float64
	for day, did := range []float64{0, 0.5, 0, -0.2, 0, 0.1} {
		for range 3 {
			clock = append(clock, moment{day: int32(day)})
			added = append(added, did)
		}
	}
	added[5] = -0.9 // the day still heats more than it cools
	got := seasons(added, clock)
	for day, season := range []float64{1, 1, 1, -1, -1, 1} {
		if got[3*day] != season || got[3*day+2] != season {
			t.Errorf("day %d: %v, want %v", day, got[3*day:3*day+3], season)
		}
	}
	for i, season := range seasons(make([]float64, 6), clock[:6]) {
		if season != 0 {
			t.Errorf("step %d of idle days has season %v", i, season)
		}
	}
}
