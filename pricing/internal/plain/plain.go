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

// kinds are the words of a county's name that only some sources have. The tables of zones
// and utilities abbreviate saints.
var kinds = strings.NewReplacer(
	" city and borough", "", " county", "", " parish", "", " borough", "", " census area", "", " municipality", "",
	"sainte ", "ste ", "saint ", "st ",
)

// County returns a county's name as Name does, without its kind.
func County(county string) string { return Name(kinds.Replace(strings.ToLower(county))) }
