package pricing

import (
	"math"
	"time"
)

// stretch is a run of intervals that follow one another on the same local day
// with consecutive quarter hours of the wall clock.
type stretch struct {
	first   int   // index of the first interval in the window
	count   int   // number of intervals
	day     int64 // local day, counted from 1970-01-01
	quarter int   // quarter hour of the local day in which the first one starts
}

// wallClock walks a window along the wall clock of a place. An interval has the
// local time at which it starts. It asks the time zone once per clock change
// and not once per interval, which is what keeps pricing fast.
type wallClock struct {
	location   *time.Location
	start, end int64 // Unix seconds of the window
	at         int64 // start of the next interval
	offset     int64 // seconds east of UTC at the instant `at`
	zoneEnd    int64 // the instant at which offset stops to apply
}

func newWallClock(w Window, location *time.Location) wallClock {
	start := w.Start.Unix()
	return wallClock{location: location, start: start, at: start, end: w.End.Unix(), zoneEnd: math.MinInt64}
}

// next gives the next stretch, and false after the last.
func (c *wallClock) next() (stretch, bool) {
	if c.at >= c.end {
		return stretch{}, false
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
	s := stretch{
		first:   int((c.at - c.start) / intervalSeconds),
		count:   int(count),
		day:     day,
		quarter: int(second / intervalSeconds),
	}
	c.at += count * intervalSeconds
	return s, true
}

func (c *wallClock) enterZone() {
	t := time.Unix(c.at, 0).In(c.location)
	_, offset := t.Zone()
	_, until := t.ZoneBounds()
	c.offset, c.zoneEnd = int64(offset), math.MaxInt64
	if !until.IsZero() {
		c.zoneEnd = until.Unix()
	}
}

// intervalsWithin is how many intervals start within the given seconds, the
// first of them at once.
func intervalsWithin(seconds int64) int64 {
	return (seconds + intervalSeconds - 1) / intervalSeconds
}
