package pricing

import (
	"math"
	"time"
)

// Stretch is a run of consecutive intervals on one local day. Their quarter hours of the
// wall clock are consecutive too.
type Stretch struct {
	First   int   // index of the first interval in the window
	Count   int   // number of intervals
	Day     int64 // local day, counted from 1970-01-01
	Quarter int   // quarter hour of the local day at the first interval's start
}

// WallClock walks a window along the wall clock of a place. An interval has the local
// time of its start. WallClock reads the time zone once per clock change, not once per
// interval, to keep pricing fast.
type WallClock struct {
	location   *time.Location
	start, end int64 // Unix seconds of the window
	at         int64 // start of the next interval
	offset     int64 // seconds east of UTC at the instant `at`
	zoneEnd    int64 // end of the time span with this offset
}

// NewWallClock returns a clock at the start of the window.
func NewWallClock(w Window, location *time.Location) WallClock {
	start := w.Start.Unix()
	return WallClock{location: location, start: start, at: start, end: w.End.Unix(), zoneEnd: math.MinInt64}
}

// Next returns the next stretch, and false after the last stretch.
func (c *WallClock) Next() (Stretch, bool) {
	if c.at >= c.end {
		return Stretch{}, false
	}
	if c.at >= c.zoneEnd {
		c.enterZone()
	}
	local := c.at + c.offset
	day := floorDiv(local, daySeconds)
	second := local - day*daySeconds
	count := intervalsWithin(min(daySeconds-second, c.end-c.at))
	if c.zoneEnd != math.MaxInt64 {
		count = min(count, intervalsWithin(c.zoneEnd-c.at))
	}
	s := Stretch{
		First:   int((c.at - c.start) / intervalSeconds),
		Count:   int(count),
		Day:     day,
		Quarter: int(second / intervalSeconds),
	}
	c.at += count * intervalSeconds
	return s, true
}

func (c *WallClock) enterZone() {
	t := time.Unix(c.at, 0).In(c.location)
	_, offset := t.Zone()
	_, until := t.ZoneBounds()
	c.offset, c.zoneEnd = int64(offset), math.MaxInt64
	if !until.IsZero() {
		c.zoneEnd = until.Unix()
	}
}

// intervalsWithin returns the number of intervals that start within the given seconds.
// The first interval starts at second 0.
func intervalsWithin(seconds int64) int64 {
	return (seconds + intervalSeconds - 1) / intervalSeconds
}
