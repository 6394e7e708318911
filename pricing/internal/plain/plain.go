// Package plain compares names that sources spell differently.
package plain

import "strings"

// Name returns a name in lower case, with letters and digits only.
func Name(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
