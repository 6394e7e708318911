package savings

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The shape of a drawing: a column is half an hour, a row a step of temperature.
const (
	quartersAColumn = 2
	plotRows        = 12
)

// String draws the day with characters. The upper part is the band of temperatures with
// the baseline (o) and the optimum (#), or both (@). The lower part is the price and the
// power of each controller.
func (d *Day) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%v  %s  $%.2f becomes $%.2f\n", d.Date, d.DeviceID, d.Baseline.Cost, d.Optimized.Cost)
	d.drawTemperatures(&out)
	fmt.Fprintf(&out, "%8s  %s\n", "", hours(columns(len(d.Price))))
	greatest := slices.Max(d.Price)
	fmt.Fprintf(&out, "%8s  %s  $%.3f to $%.3f a kWh\n", "price", bars(d.Price, greatest), slices.Min(d.Price), greatest)
	maxPower := slices.Max(slices.Concat(d.Baseline.Kw, d.Optimized.Kw))
	fmt.Fprintf(&out, "%8s  %s  up to %.1f kW\n", "before", bars(d.Baseline.Kw, maxPower), maxPower)
	fmt.Fprintf(&out, "%8s  %s\n", "after", bars(d.Optimized.Kw, maxPower))
	return out.String()
}

// drawTemperatures draws the temperature grid from the top down. The optimum over the
// baseline shows both.
func (d *Day) drawTemperatures(out *strings.Builder) {
	all := slices.Concat(d.Least, d.Greatest, d.Baseline.Temperature, d.Optimized.Temperature)
	least, greatest := slices.Min(all), slices.Max(all)
	step := max(greatest-least, 1) / (plotRows - 1)
	row := func(t float64) int { return int(math.Round((greatest - t) / step)) }
	grid := make([][]byte, plotRows)
	for r := range grid {
		grid[r] = []byte(strings.Repeat(" ", columns(len(d.Price))))
	}
	draw := func(values []float64, sign byte) {
		for i, t := range values {
			cell := &grid[min(max(row(t), 0), plotRows-1)][i/quartersAColumn]
			if *cell == 'o' && sign == '#' {
				*cell = '@'
			} else if *cell != '@' {
				*cell = sign
			}
		}
	}
	draw(d.Least, '.')
	draw(d.Greatest, '.')
	draw(d.Baseline.Temperature, 'o')
	draw(d.Optimized.Temperature, '#')
	for r := range grid {
		fmt.Fprintf(out, "%6.1f %s |%s\n", greatest-float64(r)*step, d.Units, grid[r])
	}
}

// hours labels every sixth hour.
func hours(columns int) string {
	line := []byte(strings.Repeat(" ", columns))
	for hour := 0; hour*4/quartersAColumn+1 < columns; hour += 6 {
		copy(line[hour*4/quartersAColumn:], fmt.Sprintf("%02d", hour))
	}
	return string(line)
}

// bars draws the mean of each column as a share of the greatest value.
func bars(values []float64, greatest float64) string {
	levels := []rune(" ▁▂▃▄▅▆▇█")
	var line strings.Builder
	for i := 0; i < len(values); i += quartersAColumn {
		column := values[i:min(i+quartersAColumn, len(values))]
		sum := 0.0
		for _, v := range column {
			sum += v
		}
		level := 0
		if greatest > 0 {
			level = int(math.Ceil(sum / float64(len(column)) / greatest * float64(len(levels)-1)))
		}
		line.WriteRune(levels[min(max(level, 0), len(levels)-1)])
	}
	return line.String()
}

func columns(quarters int) int { return (quarters + quartersAColumn - 1) / quartersAColumn }
