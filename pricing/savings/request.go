package savings

// Validate is an *InputError that names every wrong field of the request, or nil.
// What only the home can tell, Estimate checks.
func (r *Request) Validate() error {
	problems := &InputError{}
	r.validate(problems)
	if len(problems.Fields) > 0 {
		return problems
	}
	return nil
}
