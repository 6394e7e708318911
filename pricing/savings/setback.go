package savings

// usualSchedule returns ENERGY STAR's recommended schedule in Celsius, moved so that its
// setpoints at home are the given setpoints. ENERGY STAR recommends 70 F in winter and 78 F in
// summer at home. Away on working days it recommends 8 F less or 7 F more, and at night 8
// F less or 4 F more.
func usualSchedule(home Settings) *Schedule {
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
