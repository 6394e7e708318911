package compile

import (
	"math"
	"path/filepath"
	"strconv"

	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

// row is a line of a table by column name.
type row map[string]string

// number returns a column's value, rounded. It is 0 if the field is empty or not a
// number.
func (r row) number(column string) int {
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		return 0
	}
	return int(math.Round(v))
}

// table reads a CSV file with a header row.
func table(dir, name string) ([]row, error) {
	lines, err := pack.Table(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, line := range lines[1:] {
		r := row{}
		for i, column := range lines[0] {
			r[column] = line[i]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// index numbers distinct values in the order of their first use.
type index[K comparable] struct {
	number map[K]int
	values []K
}

func (x *index[K]) of(value K) int {
	if i, ok := x.number[value]; ok {
		return i
	}
	if x.number == nil {
		x.number = map[K]int{}
	}
	i := len(x.values)
	x.number[value] = i
	x.values = append(x.values, value)
	return i
}
