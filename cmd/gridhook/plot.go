package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gridhook/gridhook/api/client"
)

const (
	plotWidth  = 96
	plotHeight = 12
)

// plot draws the import price: a column for each quarter hour, or for several
// where the window is longer than a day.
func plot(w io.Writer, s client.Signal) {
	columns := resample(s.Import, plotWidth)
	if len(columns) == 0 {
		say(w, "The window is empty.\n")
		return
	}
	low, high := columns[0], columns[0]
	for _, v := range columns {
		low, high = min(low, v), max(high, v)
	}
	low = min(low, 0)
	say(w, "import price in $/kWh, %s to %s\n", moment(s.StartTime), moment(s.EndTime))
	for line := plotHeight; line >= 1; line-- {
		label := strings.Repeat(" ", 8)
		switch line {
		case plotHeight:
			label = fmt.Sprintf("%8.4f", high)
		case 1:
			label = fmt.Sprintf("%8.4f", low)
		}
		say(w, "%s ┤%s\n", label, plotLine(columns, low, high, line))
	}
	say(w, "%s └%s\n", strings.Repeat(" ", 8), strings.Repeat("─", len(columns)))
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

// resample makes at most width values of a series, each the mean of its share.
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
