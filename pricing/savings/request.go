package savings

// Validate returns an *InputError that names every wrong field of the request, or nil.
// Estimate checks the conditions that depend on the home.
func (r *Request) Validate() error {
	problems := &InputError{}
	r.validate(problems)
	if len(problems.Fields) > 0 {
		return problems
	}
	return nil
}
