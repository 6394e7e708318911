package build

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// enteredOn returns the day of a rate's entry into the US Utility Rate Database. The
// rate's label is an identifier that begins with the time in seconds.
func enteredOn(label string) string {
	if len(label) < 8 {
		return ""
	}
	seconds, err := strconv.ParseInt(label[:8], 16, 64)
	if err != nil {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly)
}

// pointToNewer adds each plan's source date to its caveat. If a newer plan of the same
// schedule has a newer source, pointToNewer names that plan in Newer and in the caveat.
func pointToNewer(plans, newer []Plan) {
	newest := map[string]*Plan{}
	for i := range newer {
		p := &newer[i]
		if known := newest[scheduleKey(p)]; known == nil || p.SourceDate > known.SourceDate {
			newest[scheduleKey(p)] = p
		}
	}
	for i := range plans {
		p := &plans[i]
		p.Caveat = strings.TrimSpace(p.Caveat + " It was entered into the rate database on " + p.SourceDate + ".")
		if other := newest[scheduleKey(p)]; other != nil && other.SourceDate > p.SourceDate {
			p.Newer = other.ID
			p.Caveat += fmt.Sprintf(" The plan %s is the same schedule as of %s.", other.ID, other.SourceDate)
		}
	}
}

// territorial matches names of schedules that differ by baseline territory, such as "E-1
// - Baseline Region T" and "E-1 (territory T)".
var territorial = regexp.MustCompile(`^([A-Z]+-[A-Z0-9-]*[A-Z0-9])\b.*(?:Region|territory) ([A-Z])\)?$`)

// scheduleKey returns a key that is equal for all plans of the same schedule of a utility.
func scheduleKey(p *Plan) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, p.Name)
	if m := territorial.FindStringSubmatch(p.Name); m != nil {
		name = m[1] + " " + m[2]
	}
	return strconv.Itoa(p.EIAID) + " " + name
}
