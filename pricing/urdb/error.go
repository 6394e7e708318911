package urdb

import "github.com/gridhook/gridhook/pricing"

// Error lists the problems of a tariff document, in the order of reading. The field of a
// problem is its place, such as "energyweekdayschedule[3][17]". It is empty for the whole
// document.
type Error struct{ pricing.InvalidError }

// Error names the first few problems and counts the others.
func (e *Error) Error() string { return "invalid tariff: " + e.InvalidError.Error() }

// errorOf returns an *Error, or nil without problems.
func errorOf(p *pricing.Problems) error {
	if len(p.List()) == 0 {
		return nil
	}
	return &Error{pricing.InvalidError{Fields: p.List()}}
}
