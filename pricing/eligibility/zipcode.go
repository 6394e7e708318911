package eligibility

import "strings"

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
