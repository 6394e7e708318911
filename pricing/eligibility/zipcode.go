package eligibility

import "strings"

// Lengths of a normalised code.
const (
	zipDigits    = 5
	prefixDigits = 3
)

// Normalize brings a zipcode to its five digits, or to the three digits of a
// prefix, and reports whether it has the form of one at all.
//
// The service's pattern is `^(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?$`.
// The four digits of ZIP+4 are dropped. Exactly three digits are the prefix of
// an area, as the pattern names them apart; with fewer or four, leading zeros
// are missing; with more than five, there are too many.
func Normalize(zipcode string) (code string, ok bool) {
	code, plus, extended := cutExtension(zipcode)
	if extended && (len(plus) != 4 || !digits(plus)) {
		return "", false
	}
	if code == "" || len(code) > 4+zipDigits || !digits(code) {
		return "", false
	}
	switch n := len(code); {
	case n == prefixDigits:
		return code, true
	case n < zipDigits:
		return strings.Repeat("0", zipDigits-n) + code, true
	default:
		zeros, code := code[:n-zipDigits], code[n-zipDigits:]
		return code, strings.Trim(zeros, "0") == ""
	}
}

// cutExtension cuts at the hyphen or the white space before ZIP+4.
func cutExtension(zipcode string) (code, plus string, extended bool) {
	if i := strings.IndexAny(zipcode, "- \t\n\f\r"); i >= 0 {
		return zipcode[:i], zipcode[i+1:], true
	}
	return zipcode, "", false
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
