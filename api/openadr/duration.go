package openadr

import (
	"regexp"
	"strconv"
	"time"
)

var durationPart = regexp.MustCompile(`(T)|(\d+(?:\.\d+)?)([YMWDHS])`)

// after adds an ISO 8601 duration to a time. ok is false if the duration is empty,
// invalid or endless.
func after(t time.Time, duration string) (end time.Time, ok bool) {
	const longest = 9999
	clock := false
	for _, part := range durationPart.FindAllStringSubmatch(duration, -1) {
		if part[1] != "" {
			clock = true
			continue
		}
		n, err := strconv.ParseFloat(part[2], 64)
		if err != nil || n > 1e9 || part[3] == "Y" && n >= longest {
			return t, false // P9999Y has no end
		}
		switch unit := part[3]; {
		case unit == "Y":
			t = t.AddDate(int(n), 0, 0)
		case unit == "M" && !clock:
			t = t.AddDate(0, int(n), 0)
		case unit == "W":
			t = t.AddDate(0, 0, 7*int(n))
		case unit == "D":
			t = t.AddDate(0, 0, int(n))
		default:
			t = t.Add(time.Duration(n * float64(map[string]time.Duration{"H": time.Hour, "M": time.Minute, "S": time.Second}[unit])))
		}
		ok = true
	}
	return t, ok
}
