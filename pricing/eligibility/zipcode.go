package eligibility

import (
	"regexp"
	"strings"
)

// The lengths of a normalized code.
const (
	zipDigits    = 5
	prefixDigits = 3
)

// Normalize returns the five digits of a zipcode, or the three digits of a prefix. It
// returns false if the zipcode is malformed.
//
// The service's pattern is `^(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?$`. Normalize
// drops the four digits of ZIP+4. Exactly three digits are the prefix of an area, as in
// the pattern. One, two or four digits lack leading zeros. More than five digits have
// extra leading zeros.
func Normalize(zipcode string) (code string, ok bool) {
	m := form.FindStringSubmatch(zipcode)
	switch {
	case m == nil:
		return "", false
	case m[1] != "":
		return m[1], true
	}
	return strings.Repeat("0", zipDigits-len(m[2])) + m[2], true
}

// form is the service's pattern. Its groups are the digits of a prefix and of a zipcode.
var form = regexp.MustCompile(`^(?:([0-9]{3})|0{0,4}([0-9]{1,5}))(?:[-\s][0-9]{4})?$`)
