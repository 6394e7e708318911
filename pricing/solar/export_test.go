package solar

import (
	"math"
	"time"
)

// EquationOfTime returns how far a sundial is ahead of a clock of mean time.
func EquationOfTime(t time.Time) time.Duration {
	days := float64(t.UnixNano())/1e9/secondsADay + julianEpoch - j2000
	rightAscension, _ := apparent((days + deltaT/secondsADay) / century)
	// At hour angle 0 the sun is in the south. A mean sun would be there at noon.
	noon := (days + 0.5) - math.Floor(days+0.5)
	hourAngle := siderealTime(days) - rightAscension
	ahead := math.Remainder(hourAngle-noon*360+180, 360)
	return time.Duration(ahead * 4 * float64(time.Minute))
}
