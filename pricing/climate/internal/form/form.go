// Package form is the embedded form of a typical year, for package embedded.
//
// The package may import only the standard library and does no I/O.
package form

import "time"

// Hours is the number of hours in a typical year, which is never a leap year.
const Hours = 8760

// The resolutions of the stored values. The rounding error of an hour is carried to the
// next hour, so that sums remain correct.
const (
	TemperatureStep = 1.0 // C
	SunStep         = 40  // W/m2
	WindStep        = 0.1 // m/s
)

// Months and HoursADay are the size of the table of winds.
const (
	Months    = 12
	HoursADay = 24
)

// Positions of an hour's irradiances in Year.Sun. Each hour has Suns of them.
const (
	DNI = iota
	DHI
	GHI
	Suns
)

// Year is a typical year in steps. To be small, an embedded year has the changes of
// temperature from hour to hour, and global without diffuse irradiance as GHI.
type Year struct {
	Temperature []int8  // by hour
	Sun         []uint8 // Suns irradiances by hour
	Wind        []uint8 // mean by month and hour of the day
}

// WindAt returns the index of an hour of the year in the table of winds.
func WindAt(hour int) int { return monthOf[hour/HoursADay]*HoursADay + hour%HoursADay }

// monthOf is the month, from 0, of each day of the year.
var monthOf = func() (months [Hours / HoursADay]int) {
	for day := range months {
		months[day] = int(time.Date(2027, time.January, 1+day, 0, 0, 0, 0, time.UTC).Month()) - 1
	}
	return months
}()
