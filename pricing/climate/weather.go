package climate

import (
	"math"
	"time"
)

// Weather is the weather of an hour or of a quarter hour.
type Weather struct {
	Temperature float64 // dry bulb, C
	Humidity    float64 // relative, percent
	Wind        float64 // m/s
	GHI         float64 // global horizontal irradiance, W/m2
	DNI         float64 // direct normal irradiance, W/m2
	DHI         float64 // diffuse horizontal irradiance, W/m2
}

// DewPoint is the dew point in C, by the Magnus formula with the coefficients of
// Alduchov and Eskridge (1996), good to some tenths from -40 to 50 C.
func (w Weather) DewPoint() float64 {
	const a, b = 17.625, 243.04
	g := math.Log(max(w.Humidity, 1)/100) + a*w.Temperature/(b+w.Temperature)
	return b * g / (a - g)
}

// Hour is the weather of an hour of the year, counted from 0: its irradiances are
// the means over the hour, its other values those at the end of it, as in the
// source. An hour outside the year is that of the year before or after.
func (y *Year) Hour(hour int) Weather {
	i, h := wrap(hour, Hours), y.hours()
	return Weather{
		Temperature: h.temperature[i], Humidity: h.humidity[i], Wind: h.wind[i],
		GHI: h.ghi[i], DNI: h.dni[i], DHI: h.dhi[i],
	}
}

// Quarter is the weather of a quarter hour of the year, counted from 0.
//
// Temperature, humidity and wind are those at its middle, on the straight line
// between the ends of the hours. The irradiances are means: they follow the lines
// between the middles of the hours, scaled so that the four quarters of an hour
// have the hour's mean, and no sun shines in an hour that has none.
func (y *Year) Quarter(quarter int) Weather {
	i := wrap(quarter, Quarters)
	hour, part := i/4, i%4
	h, before := y.hours(), wrap(hour-1, Hours)
	after := wrap(hour+1, Hours)
	line := func(values []float64) float64 {
		return values[before] + (values[hour]-values[before])*(float64(part)+0.5)/4
	}
	return Weather{
		Temperature: line(h.temperature), Humidity: line(h.humidity), Wind: line(h.wind),
		GHI: spread(h.ghi[before], h.ghi[hour], h.ghi[after], part),
		DNI: spread(h.dni[before], h.dni[hour], h.dni[after], part),
		DHI: spread(h.dhi[before], h.dhi[hour], h.dhi[after], part),
	}
}

// spread is the mean of a part (0 to 3) of an hour whose mean and neighbours are
// given. The middle of a part is 1/8 or 3/8 of an hour from that of the hour.
func spread(before, mean, after float64, part int) float64 {
	if mean <= 0 {
		return 0
	}
	toward := [4]float64{3.0 / 8, 1.0 / 8, 1.0 / 8, 3.0 / 8}
	neighbour := before
	if part >= 2 {
		neighbour = after
	}
	value := mean + (neighbour-mean)*toward[part]
	four := 3*mean + (before+after)/2 // the sum of the four parts
	return value * 4 * mean / four
}

// Index is the quarter hour of the year in which an instant lies at a longitude
// (degrees east): that with the same local mean solar time at the station, so
// that the sun stands as it does at the place. The date is that of the year's
// calendar; the 29th of February repeats the 28th.
func (y *Year) Index(t time.Time, lon float64) int {
	solar := t.UTC().Add(y.Offset + time.Duration((lon-y.Lon)/15*float64(time.Hour)))
	day := solar.YearDay() - 1
	if leap(solar.Year()) && day >= leapDay {
		day--
	}
	return day*96 + (solar.Hour()*60+solar.Minute())/15
}

// At is the weather of the quarter hour that Index names.
func (y *Year) At(t time.Time, lon float64) Weather { return y.Quarter(y.Index(t, lon)) }

// Series is the weather at a longitude of n quarter hours that follow one another
// from an instant: what At gives for each of them.
func (y *Year) Series(start time.Time, n int, lon float64) []Weather {
	series := make([]Weather, n)
	for i := 0; i < n; {
		t := start.Add(time.Duration(i) * 15 * time.Minute)
		index := y.Index(t, lon)
		// A day of the year is walked without asking the calendar again.
		for day := index / 96; i < n && index/96 == day; i, index = i+1, index+1 {
			series[i] = y.Quarter(index)
		}
	}
	return series
}

// leapDay is the day of the year, from 0, that only leap years have.
const leapDay = 31 + 28

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func wrap(i, n int) int {
	if i %= n; i < 0 {
		i += n
	}
	return i
}
