package pricing

import (
	"iter"
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

// Stretches walks a window along the wall clock of a place. An interval has the local time
// of its start. Stretches reads the time zone once per clock change, not once per interval, to
// keep pricing fast.
func Stretches(w Window, location *time.Location) iter.Seq[Stretch] {
	return func(yield func(Stretch) bool) {
		start, end := w.Start.Unix(), w.End.Unix()
		var offset, zoneEnd int64
		for at := start; at < end; {
			if at == start || at >= zoneEnd {
				offset, zoneEnd = zoneAt(at, location)
			}
			local := at + offset
			day := floorDiv(local, daySeconds)
			second := local - day*daySeconds
			count := intervalsWithin(min(daySeconds-second, end-at, zoneEnd-at))
			if !yield(Stretch{
				First:   int((at - start) / intervalSeconds),
				Count:   int(count),
				Day:     day,
				Quarter: int(second / intervalSeconds),
			}) {
				return
			}
			at += count * intervalSeconds
		}
	}
}

// zoneAt returns the seconds east of UTC at an instant, and the end of the time span with
// this offset. An offset without an end gets half of the largest number, so that differences
// of instants do not overflow.
func zoneAt(at int64, location *time.Location) (offset, end int64) {
	t := time.Unix(at, 0).In(location)
	_, east := t.Zone()
	_, until := t.ZoneBounds()
	if until.IsZero() {
		return int64(east), math.MaxInt64 / 2
	}
	return int64(east), until.Unix()
}

// intervalsWithin returns the number of intervals that start within the given seconds.
// The first interval starts at second 0.
func intervalsWithin(seconds int64) int64 {
	return (seconds + intervalSeconds - 1) / intervalSeconds
}
