// Package form is the compact form of a typical year. It is DEFLATE over columns of
// steps. Each step is the zigzag varint of its difference from the expected step.
//
// The package may import only the standard library and does no I/O.
package form

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

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

// Year is a typical year in steps.
type Year struct {
	Temperature   []int16 // by hour
	DNI, DHI, GHI []int16
	Wind          [Months * HoursADay]int16 // mean by month and hour of the day
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

// maxSize limits the unpacked size.
const maxSize = 1 << 20

// Decode unpacks a year.
func Decode(packed []byte) (*Year, error) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxSize))
	if err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	get := func(expected int) int16 {
		v, n := binary.Varint(plain)
		if n <= 0 {
			n, err = len(plain), fmt.Errorf("form: a year ends early")
		}
		plain = plain[n:]
		return int16(int64(expected) + v) //nolint:gosec // package hours wrote it from an int16
	}
	y := &Year{Temperature: make([]int16, Hours), DNI: make([]int16, Hours), DHI: make([]int16, Hours), GHI: make([]int16, Hours)}
	for _, column := range [][]int16{y.Temperature, y.DNI, y.DHI} {
		last := 0
		for i := range column {
			column[i] = get(last)
			last = int(column[i])
		}
	}
	var h Heights
	for i := range y.GHI {
		y.GHI[i] = get(h.Expect(i, y.DNI[i], y.DHI[i]))
		h.See(i, y.DNI[i], y.DHI[i], y.GHI[i])
	}
	for i := range y.Wind {
		y.Wind[i] = get(0)
	}
	if err == nil && len(plain) > 0 {
		err = fmt.Errorf("form: %d bytes too many", len(plain))
	}
	return y, err
}

// Heights are the sines of the sun's height by hour of the day, from the last clear day.
// Global light is diffuse light plus direct light times this sine.
type Heights [HoursADay]float64

// Expect returns the expected global light for direct and diffuse light.
func (h *Heights) Expect(hour int, dni, dhi int16) int {
	return int(dhi) + int(math.Round(float64(dni)*h[hour%HoursADay]))
}

// See updates the sine of an hour with its light.
func (h *Heights) See(hour int, dni, dhi, ghi int16) {
	const clear = 5 // steps
	if dni >= clear {
		h[hour%HoursADay] = float64(ghi-dhi) / float64(dni)
	}
}
