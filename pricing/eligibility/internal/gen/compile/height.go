package compile

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"math"
	"sync"
)

// heightsPacked is the part of a map of the world's heights that has the United States:
// rows of cells from north to south, a byte a cell. SOURCES.md names its source.
//
//go:embed heights.gz
var heightsPacked []byte

// The form of the map. A cell spans a twelfth of a degree, about 9 km from north to south.
const (
	worldRows, worldColumns = 2160, 4320
	firstRow, columns       = 216, 1368
	step, lowest            = 28, -450 // m
	sea                     = 255      // no land in the cell
)

var heights = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(heightsPacked))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
})

// heightAt returns the height of a place of the United States above the sea, in meters. A
// place off the map has the height 0.
func heightAt(lat, lon float64) (int, error) {
	cells, err := heights()
	if err != nil {
		return 0, err
	}
	row := int(math.Round((90-lat)/180*(worldRows-1))) - firstRow
	column := int(math.Round((lon + 180) / 360 * (worldColumns - 1)))
	at := row*columns + column
	if row < 0 || column < 0 || column >= columns || at >= len(cells) || cells[at] == sea {
		return 0, nil
	}
	return int(cells[at])*step + lowest, nil
}
