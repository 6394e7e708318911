package storage

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// index is the JSON path of an array's element.
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

// checkText bounds a text's length in characters and refuses invalid UTF-8.
func checkText(p *Problems, field, s string, least, most int) {
	n := utf8.RuneCountInString(s)
	switch {
	case !utf8.ValidString(s):
		p.Addf(field, "must be valid UTF-8")
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

// locations caches the time zones that were asked for, which are few.
var locations sync.Map // name -> *time.Location

// Location is the time zone of an IANA name. "" and "Local" are refused: a
// home's wall clock must not depend on the machine.
func Location(name string) (*time.Location, bool) {
	if l, ok := locations.Load(name); ok {
		return l.(*time.Location), true
	}
	if name == "" || name == "Local" {
		return nil, false
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	locations.Store(name, l)
	return l, true
}
