package api

// RequestExamples returns an example of each operation's body, by the operation's name.
func RequestExamples() map[string]string {
	all := map[string]string{"import": importExample, "importGreenButton": greenButtonExample}
	for name, body := range examples() {
		all[name] = string(body)
	}
	return all
}

// FillQueue makes an organization reach its limit of queued estimates.
func (e *Estimates) FillQueue(org string) {
	for e.enter(org) != nil {
	}
}
