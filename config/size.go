package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int64

// units lists the units of a Size, the largest first. Decimal units (kB, MB) are refused
// because people use them with both meanings.
var units = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

var errSize = errors.New("must be a size such as 1MiB, 512KiB or a number of bytes")

// UnmarshalText parses a number of bytes, with or without a binary unit.
func (s *Size) UnmarshalText(text []byte) error {
	number, factor := string(text), int64(1)
	for _, u := range units {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return errSize
	}
	*s = Size(n * factor)
	return nil
}

// String returns the size in the largest unit that gives a whole number.
func (s Size) String() string {
	for _, u := range units {
		if n := int64(s); n != 0 && n%u.bytes == 0 && u.bytes > 1 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Rounded returns the size in the largest unit that it reaches, with one decimal at most.
// It is for people. A setting needs String.
func (s Size) Rounded() string {
	for _, u := range units {
		if n := int64(s); n >= u.bytes && u.bytes > 1 {
			return strconv.FormatFloat(math.Round(float64(n)/float64(u.bytes)*10)/10, 'f', -1, 64) + u.name
		}
	}
	return s.String()
}
