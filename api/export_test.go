package api

import "maps"

// RequestExamples returns an example of each operation's body, by the operation's name.
func RequestExamples() map[string]string { return maps.Clone(examples) }

// FillQueue makes an organization reach its limit of queued estimates.
func (e *Estimates) FillQueue(org string) {
	for e.enter(org) != nil {
	}
}
