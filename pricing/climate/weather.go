package climate

import (
	"time"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
)

// Weather is the weather of an hour or of a quarter hour.
type Weather struct {
	Temperature float64 // dry bulb, C
	Wind        float64 // m/s
	GHI         float64 // global horizontal irradiance, W/m2
	DNI         float64 // direct normal irradiance, W/m2
	DHI         float64 // diffuse horizontal irradiance, W/m2
}

// Hour returns the weather of an hour of the year, counted from 0. The irradiances are
// the means over the hour. The temperature is at the end of the hour, as in the source.
// The wind is the month's mean at that hour. Hours outside the year wrap around.
func (y *Year) Hour(hour int) Weather {
	i, h := wrap(hour, Hours), y.hours()
	sun := func(kind int) float64 { return float64(h.Sun[i*form.Suns+kind]) * form.SunStep }
	return Weather{
		Temperature: float64(h.Temperature[i]) * form.TemperatureStep, Wind: float64(h.Wind[form.WindAt(i)]) * form.WindStep,
		GHI: sun(form.GHI), DNI: sun(form.DNI), DHI: sun(form.DHI),
	}
}

// Quarter returns the weather of a quarter hour of the year, counted from 0.
//
// Temperature and wind are at the middle of the quarter hour, on the straight line
// between the ends of the hours. The irradiances are means, on the lines between the
// middles of the hours. Quarter scales them so that the four quarters of an hour have the
// hour's mean. An hour without sun has no sun in its quarters.
func (y *Year) Quarter(quarter int) Weather {
	i := wrap(quarter, Quarters)
	hour, part := i/4, i%4
	before, now, after := y.Hour(hour-1), y.Hour(hour), y.Hour(hour+1)
	line := func(from, to float64) float64 { return from + (to-from)*(float64(part)+0.5)/4 }
	return Weather{
		Temperature: line(before.Temperature, now.Temperature), Wind: line(before.Wind, now.Wind),
		GHI: spread(before.GHI, now.GHI, after.GHI, part), DNI: spread(before.DNI, now.DNI, after.DNI, part), DHI: spread(before.DHI, now.DHI, after.DHI, part),
	}
}

// spread returns the mean of a part (0 to 3) of an hour. It interpolates between the
// hour's mean and its neighbors. The middle of a part is 1/8 or 3/8 of an hour from the
// middle of the hour.
func spread(before, mean, after float64, part int) float64 {
	if mean <= 0 {
		return 0
	}
	toward := [4]float64{3.0 / 8, 1.0 / 8, 1.0 / 8, 3.0 / 8}
	neighbor := [4]float64{before, before, after, after}
	value := mean + (neighbor[part]-mean)*toward[part]
	four := 3*mean + (before+after)/2 // the sum of the four parts
	return value * 4 * mean / four
}

// Index returns the quarter hour of the year for the quarter hour that starts at an
// instant at a longitude (degrees east). It is the one at the station that contains the
// local mean solar time of the middle, so that the sun's position is the same as at the
// place. The date is in the year's calendar; the 29th of February repeats the 28th.
func (y *Year) Index(start time.Time, lon float64) int {
	const half = 15 * time.Minute / 2
	solar := start.UTC().Add(half + y.Offset + time.Duration((lon-y.Lon)/15*float64(time.Hour)))
	day := solar.YearDay() - 1
	if leap(solar.Year()) && day >= leapDay {
		day--
	}
	return day*96 + (solar.Hour()*60+solar.Minute())/15
}

// Series returns the weather at a longitude for n consecutive quarter hours from an
// instant. Each value is of the quarter hour at Index.
func (y *Year) Series(start time.Time, n int, lon float64) []Weather {
	series := make([]Weather, n)
	for i := 0; i < n; {
		t := start.Add(time.Duration(i) * 15 * time.Minute)
		index := y.Index(t, lon)
		// Consecutive quarter hours of a day need the calendar only once.
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
