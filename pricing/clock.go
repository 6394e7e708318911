package pricing

import (
	"math"
	"time"
)

// stretch is a run of consecutive intervals on one local day. Their quarter hours of the
// wall clock are consecutive too.
type stretch struct {
	first   int   // index of the first interval in the window
	count   int   // number of intervals
	day     int64 // local day, counted from 1970-01-01
	quarter int   // quarter hour of the local day at the first interval's start
}

// wallClock walks a window along the wall clock of a place. An interval has the local
// time of its start. wallClock reads the time zone once per clock change, not once per
// interval, to keep pricing fast.
type wallClock struct {
	location   *time.Location
	start, end int64 // Unix seconds of the window
	at         int64 // start of the next interval
	offset     int64 // seconds east of UTC at the instant `at`
	zoneEnd    int64 // end of the time span with this offset
}

func newWallClock(w Window, location *time.Location) wallClock {
	start := w.Start.Unix()
	return wallClock{location: location, start: start, at: start, end: w.End.Unix(), zoneEnd: math.MinInt64}
}

// next returns the next stretch, and false after the last stretch.
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

// intervalsWithin returns the number of intervals that start within the given seconds.
// The first interval starts at second 0.
func intervalsWithin(seconds int64) int64 {
	return (seconds + intervalSeconds - 1) / intervalSeconds
}
