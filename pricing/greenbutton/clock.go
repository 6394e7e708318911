package greenbutton

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

// clock is the local time of a file, from its LocalTimeParameters.
type clock struct {
	*time.Location
	// exact reports whether the file has rules of daylight saving time that can be read.
	// Otherwise Location has standard time only.
	exact bool
}

// newClock returns the clock of an offset from UTC in seconds, the seconds that daylight
// saving time adds, and the rules of its start and end.
func newClock(offset, dst int64, start, end string) *clock {
	c := &clock{Location: time.FixedZone("", int(offset))}
	from, okFrom := transition(start)
	to, okTo := transition(end)
	if !okFrom || !okTo || dst == 0 {
		return c
	}
	// POSIX counts offsets to the west.
	location, err := withRule(fmt.Sprintf("<S>%s<D>%s,%s,%s", clockTime(-offset), clockTime(-offset-dst), from, to))
	if err == nil {
		c.Location, c.exact = location, true
	}
	return c
}

// clockTime formats seconds as in POSIX, such as -1:30:00.
func clockTime(seconds int64) string {
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}

// transition returns an ESPI rule of daylight saving time in the form of POSIX. A rule has
// 32 bits in hexadecimal digits (DstRuleType of espiDerived.xsd). From the lowest:
//
//	12 seconds, 5 hour, 3 day of the week (1 is Monday), 5 day of the month, 3 operator, 4 month
//
// The operators 2 to 7 name the first to the fifth and the last such weekday of the month.
// ok is false for malformed and disabled rules, and for rules of a day of the month, which
// North America does not use.
func transition(rule string) (posix string, ok bool) {
	bits, err := strconv.ParseUint(rule, 16, 32)
	if err != nil || len(rule) != 8 {
		return "", false
	}
	at := clockTime(int64(bits>>12&0x1f)*3600 + int64(bits&0xfff))
	weekday, operator, month := bits>>17&7, bits>>25&7, bits>>28
	if operator < 2 || weekday == 0 || month < 1 || month > 12 {
		return "", false
	}
	// POSIX has the weeks 1 to 5, of which 5 is the last.
	return fmt.Sprintf("M%d.%d.%d/%s", month, min(operator-1, 5), weekday%7, at), true
}

// withRule returns the location of a POSIX rule. The rule is the last line of a time zone
// file (RFC 9636), which has no transitions of its own.
func withRule(rule string) (*time.Location, error) {
	header := func(version byte) []byte {
		counts := [6]uint32{4: 1, 5: 4} // a type of local time, and the characters of its name
		block := append([]byte("TZif"), version)
		block = append(block, make([]byte, 15)...)
		for _, n := range counts {
			block = binary.BigEndian.AppendUint32(block, n)
		}
		return append(block, 0, 0, 0, 0, 0, 0, 'U', 'T', 'C', 0)
	}
	data := append(header('2'), header('2')...)
	return time.LoadLocationFromTZData("", append(data, "\n"+rule+"\n"...))
}
