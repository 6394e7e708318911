package storage

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// index returns the JSON path of an array's element.
func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// BadID is the message of an invalid identifier.
const BadID = "must match ^[A-Za-z0-9_-]{1,128}$"

// CheckID adds a field error unless id is a valid identifier.
func CheckID(p *Problems, field, id string) { p.Check(ValidID(id), field, BadID) }

// checkLocation accepts a canonical IANA time zone name: Area/City or UTC. Location also
// knows the abbreviations and country names of earlier days, such as EST5EDT and US/Pacific.
func checkLocation(p *Problems, name string) {
	area, _, _ := strings.Cut(name, "/")
	_, ok := Location(name)
	p.Check(ok && (name == "UTC" || slices.Contains(areas, area)), "timezone", "must be a canonical IANA time zone name such as America/Chicago, not %q", name)
}

// areas are the first parts of canonical time zone names.
var areas = []string{"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Etc", "Europe", "Indian", "Pacific"}

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
// refuses the database's other files, such as right/UTC, whose clocks count leap seconds,
// and other spellings of a path.
func Location(name string) (*time.Location, bool) {
	if l, ok := locations.Load(name); ok {
		return l.(*time.Location), true
	}
	segments := strings.Split(name, "/")
	switch segments[0] {
	case "Local", "localtime", "Factory", "posixrules", "posix", "right":
		return nil, false
	}
	// The system resolves a path, so that America//Chicago would be one more spelling of
	// a zone, and the cache would grow with each spelling.
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return nil, false
		}
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	locations.Store(name, l)
	return l, true
}
