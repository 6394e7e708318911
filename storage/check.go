package storage

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// index returns the JSON path of an array's element.
func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

func checkID(p *Problems, field, id string) {
	p.Check(ValidID(id), field, "must match ^[A-Za-z0-9_-]{1,128}$")
}

// checkOptionalID accepts an absent (empty) identifier.
func checkOptionalID(p *Problems, field, id string) {
	if id != "" {
		checkID(p, field, id)
	}
}

// turning lists the characters that change the direction of the following text. With them
// a terminal shows another text than the stored text.
const turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// checkText bounds a text's length in characters. It refuses invalid UTF-8 and characters
// that change the direction of text.
func checkText(p *Problems, field, s string, least, most int) {
	n := utf8.RuneCountInString(s)
	switch {
	case !utf8.ValidString(s):
		p.Addf(field, "must be valid UTF-8")
	case strings.ContainsAny(s, turning):
		p.Addf(field, "must not have characters that change the direction of text, such as U+202E")
	case n < least && least == 1:
		p.Addf(field, "is required")
	case n < least || n > most:
		p.Addf(field, "must have %d to %d characters, has %d", least, most, n)
	}
}

// checkOptionalText bounds a text that may be null.
func checkOptionalText(p *Problems, field string, s *string) {
	if s != nil {
		checkText(p, field, *s, 0, 500)
	}
}

// checkEnum accepts one of the values.
func checkEnum[T ~string](p *Problems, field string, v T, values ...T) {
	if slices.Contains(values, v) {
		return
	}
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = string(value)
	}
	p.Addf(field, "must be one of %s", strings.Join(names, ", "))
}

// locations caches loaded time zones. There are few of them.
var locations sync.Map // name -> *time.Location

// Location returns the time zone of an IANA name. It refuses "" and names of the
// machine's own zone, because a home's wall clock must not depend on the machine. It also
// refuses the database's other files, such as right/UTC, whose clocks count leap seconds.
func Location(name string) (*time.Location, bool) {
	if l, ok := locations.Load(name); ok {
		return l.(*time.Location), true
	}
	switch folder, _, _ := strings.Cut(name, "/"); folder {
	case "", "Local", "localtime", "Factory", "posixrules", "posix", "right":
		return nil, false
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	locations.Store(name, l)
	return l, true
}
