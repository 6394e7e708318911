package savings

// usualSchedule returns ENERGY STAR's recommended schedule, moved so that its setpoints
// at home are the device's setpoints. ENERGY STAR recommends 70 F in winter and 78 F in
// summer at home. Away on working days it recommends 8 F less or 7 F more, and at night 8
// F less or 4 F more.
func usualSchedule(d *Device) *Schedule {
	home := d.Settings.celsius(d.Units)
	const night, awayHeat, awayCool, nightCool = 8 * 5.0 / 9, 8 * 5.0 / 9, 7 * 5.0 / 9, 4 * 5.0 / 9
	set := func(heat, cool float64) Settings {
		s := Settings{Mode: home.Mode, Heat: home.Heat - heat, Cool: home.Cool + cool}
		s.Min, s.Max = min(home.Min, s.Heat), max(home.Max, s.Cool)
		return s
	}
	everyDay, workingDays := []int{0, 1, 2, 3, 4, 5, 6}, []int{1, 2, 3, 4, 5}
	return &Schedule{
		Units: Celsius, Enabled: true, Default: home,
		Blocks: []Block{
			{StartMinute: 8 * 60, EndMinute: 18 * 60, Days: workingDays, Settings: set(awayHeat, awayCool)},
			{StartMinute: 0, EndMinute: 6 * 60, Days: everyDay, Settings: set(night, nightCool)},
			{StartMinute: 22 * 60, EndMinute: minutesADay, Days: everyDay, Settings: set(night, nightCool)},
		},
	}
}

// newSetback returns the schedule of a device and its constant reference. The reference
// is the request's setting, or the most comfortable setting of the schedule.
func newSetback(d *Device, r *Request) (held, followed *timetable) {
	schedule := d.Schedule
	if schedule == nil || !schedule.Enabled {
		schedule = usualSchedule(d)
	}
	followed, held = emptyTimetable(), emptyTimetable()
	followed.follow(schedule, r.Mode)
	followed.addOwn(d.Settings.celsius(d.Units), r.Mode)
	if r.setsTemperature() {
		held.own = held.add(r.settings(d.Settings).celsius(d.Units), r.Mode)
		return held, followed
	}
	held.own = held.add(mostComfortable(followed.settings), nil)
	return held, followed
}

// mostComfortable returns the highest heating setpoint of the settings that heat and the
// lowest cooling setpoint of the settings that cool. Its mode does what any of them does.
func mostComfortable(all []Settings) Settings {
	best := all[0]
	var heats, cools bool
	for _, s := range all {
		best.Min, best.Max = min(best.Min, s.Min), max(best.Max, s.Max)
		if s.Mode.heats() && (!heats || s.Heat > best.Heat) {
			heats, best.Heat = true, s.Heat
		}
		if s.Mode.cools() && (!cools || s.Cool < best.Cool) {
			cools, best.Cool = true, s.Cool
		}
	}
	switch {
	case heats && cools:
		best.Mode = Auto
	case heats:
		best.Mode = Heat
	case cools:
		best.Mode = Cool
	}
	return best
}
