package pricing

import (
	"regexp"
	"strconv"
	"time"
)

var isoDuration = regexp.MustCompile(`^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$`)

// AddDuration adds an ISO 8601 duration such as PT1H or P1M to a time. Years, months, weeks
// and days are those of the calendar. ok is false if the duration is empty or invalid, and
// if a part is too long for a date, such as P9999Y, which means no end.
func AddDuration(t time.Time, text string) (end time.Time, ok bool) {
	const (
		maxDays    = 200 * 366
		maxSeconds = maxDays * 24 * 60 * 60
	)
	parts := isoDuration.FindStringSubmatch(text)
	if parts == nil {
		return t, false
	}
	for i, u := range []struct {
		years, months, days int
		seconds             float64
	}{{years: 1}, {months: 1}, {days: 7}, {days: 1}, {seconds: 60 * 60}, {seconds: 60}, {seconds: 1}} {
		part := parts[i+1]
		if part == "" {
			continue
		}
		n, err := strconv.ParseFloat(part, 64)
		days := n * float64(366*u.years+31*u.months+u.days)
		if err != nil || days > maxDays || n*u.seconds > maxSeconds {
			return t, false
		}
		whole := int(n)
		t = t.AddDate(whole*u.years, whole*u.months, whole*u.days).Add(time.Duration(n * u.seconds * float64(time.Second)))
		ok = true
	}
	return t, ok
}
