package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
)

const (
	plotWidth  = 96
	plotHeight = 12
)

// plot draws the import price with a column per quarter hour, or per several if the
// window is longer than a day. The lowest price has one line, so that the axis shows the
// whole range of prices. The hours are in zone.
func plot(w io.Writer, s client.Signal, zone *time.Location) {
	columns := resample(s.Import, plotWidth)
	if len(columns) == 0 {
		say(w, "The window is empty.\n")
		return
	}
	low, high := slices.Min(columns), slices.Max(columns)
	step := (high - low) / (plotHeight - 1)
	if step == 0 {
		step = 1 // a flat price fills the height
	}
	const day = "Mon 2 Jan 15:04"
	start, end := s.StartTime.In(zone), s.EndTime.In(zone)
	say(w, "import price in $/kWh, %s to %s, %s\n", start.Format(day), end.Format(day), zone)
	for line := plotHeight; line >= 1; line-- {
		label := strings.Repeat(" ", 8)
		if line == plotHeight || low < high && (line == 1 || line%4 == 0) {
			label = fmt.Sprintf("%8.4f", high-float64(plotHeight-line)*step)
		}
		say(w, "%s ┤%s\n", label, plotLine(columns, high-plotHeight*step, high, line))
	}
	margin := strings.Repeat(" ", 8)
	say(w, "%s └%s\n%s  %s\n", margin, strings.Repeat("─", len(columns)), margin, hours(len(columns), start, end))
}

// hours marks the full hours below the columns of a plot. A plot of many days has marks
// for days instead.
func hours(columns int, start, end time.Time) string {
	const apart = 6 // columns, at least, between two marks
	column := end.Sub(start) / time.Duration(columns)
	every := 3
	for time.Duration(every)*time.Hour < apart*column && every < 24 {
		every *= 2
	}
	line := []rune(strings.Repeat(" ", columns+apart))
	free, last := 0, start.Add(-time.Nanosecond)
	for i := range columns {
		at := start.Add(time.Duration(i) * column)
		// A mark stands in the first column that starts at or after the full hour in the zone.
		full := at.Hour()/every != last.Hour()/every || at.YearDay() != last.YearDay()
		if full && i >= free {
			mark := []rune(fmt.Sprintf("%02dh", at.Hour()/every*every))
			if every == 24 {
				mark = []rune(at.Format("2 Jan"))
			}
			copy(line[i:], mark)
			free = i + len(mark) + 1
		}
		last = at
	}
	return strings.TrimRight(string(line), " ")
}

// eighths are blocks from empty to full.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// plotLine draws one line of text, counted from 1 at the bottom.
func plotLine(columns []float64, low, high float64, line int) string {
	var b strings.Builder
	span := max(high-low, 1e-9)
	for _, v := range columns {
		filled := (v-low)/span*plotHeight - float64(line-1)
		b.WriteRune(eighths[int(min(max(filled, 0), 1)*8+0.5)])
	}
	return strings.TrimRight(b.String(), " ")
}

// resample returns at most width values, each the mean of its share of the series.
func resample(series []float64, width int) []float64 {
	n := min(len(series), width)
	out := make([]float64, n)
	for i := range out {
		from, to := i*len(series)/n, (i+1)*len(series)/n
		for _, v := range series[from:to] {
			out[i] += v / float64(to-from)
		}
	}
	return out
}
