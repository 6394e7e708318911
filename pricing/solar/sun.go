package solar

import (
	"math"
	"time"
)

// Sun is the position of the sun, seen from a place. Angles are in degrees.
type Sun struct {
	Elevation   float64 // of its center above the horizon, without refraction
	Azimuth     float64 // clockwise from north, 0 to 360
	Declination float64
	Distance    float64 // from the Earth, astronomical units
}

const (
	degree      = math.Pi / 180
	julianEpoch = 2440587.5 // Julian date of 1970-01-01T00:00Z
	j2000       = 2451545.0
	century     = 36525.0
	secondsADay = 24 * 60 * 60

	// deltaT is terrestrial time minus universal time in seconds. It was 64 in 2003 and
	// 69 in 2025. An error of one minute moves the sun by 0.0007 degrees.
	deltaT = 69.0
	// parallax is the parallax of the sun at the horizon.
	parallax = 8.794 / 3600
)

// Position returns the sun's position at an instant, seen from degrees north and east. It
// uses the low-precision formulas of Meeus, Astronomical Algorithms (2nd ed., chapters
// 12, 13 and 25). The error is within 0.01 degrees from 1950 to 2100.
func Position(t time.Time, lat, lon float64) Sun {
	days := float64(t.UnixNano())/1e9/secondsADay + julianEpoch - j2000
	rightAscension, s := apparent((days + deltaT/secondsADay) / century)
	hourAngle := (siderealTime(days) + lon - rightAscension) * degree
	sinLat, cosLat := math.Sincos(lat * degree)
	sinDec, cosDec := math.Sincos(s.Declination * degree)
	sinHour, cosHour := math.Sincos(hourAngle)
	elevation := math.Asin(clamp(sinLat*sinDec + cosLat*cosDec*cosHour))
	s.Elevation = elevation/degree - parallax*math.Cos(elevation)
	s.Azimuth = 180 + math.Atan2(sinHour, cosHour*sinLat-sinDec/cosDec*cosLat)/degree
	return s
}

// apparent returns the right ascension and the declination of the sun, seen from the
// center of the Earth. t is in Julian centuries of terrestrial time since 2000.
func apparent(t float64) (rightAscension float64, s Sun) {
	meanLongitude := 280.46646 + t*(36000.76983+t*0.0003032)
	anomaly := (357.52911 + t*(35999.05029-t*0.0001537)) * degree
	eccentricity := 0.016708634 - t*(0.000042037+t*0.0000001267)
	center := (1.914602-t*(0.004817+t*0.000014))*math.Sin(anomaly) +
		(0.019993-t*0.000101)*math.Sin(2*anomaly) + 0.000289*math.Sin(3*anomaly)
	node := (125.04 - 1934.136*t) * degree
	longitude := (meanLongitude + center - 0.00569 - 0.00478*math.Sin(node)) * degree
	obliquity := (23.4392911 - t*(0.0130042+t*1.64e-7) + 0.00256*math.Cos(node)) * degree
	sin, cos := math.Sincos(longitude)
	rightAscension = math.Atan2(math.Cos(obliquity)*sin, cos) / degree
	s.Declination = math.Asin(clamp(math.Sin(obliquity)*sin)) / degree
	trueAnomaly := anomaly + center*degree
	s.Distance = 1.000001018 * (1 - eccentricity*eccentricity) / (1 + eccentricity*math.Cos(trueAnomaly))
	return rightAscension, s
}

// siderealTime returns the apparent sidereal time at Greenwich, in degrees, for days of
// universal time since 2000.
func siderealTime(days float64) float64 {
	t := days / century
	node := (125.04 - 1934.136*t) * degree
	nutation := -0.00478 * math.Sin(node) * math.Cos(23.44*degree)
	return 280.46061837 + 360.98564736629*days + t*t*0.000387933 + nutation
}

func clamp(sine float64) float64 { return max(-1, min(1, sine)) }
