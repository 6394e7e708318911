package doctor

import "fmt"

// Status is how well something is.
type Status string

// The statuses.
const (
	// OK: as it should be.
	OK Status = "ok"
	// Warning: it works, and has a risk that may be meant.
	Warning Status = "warning"
	// Unknown: it could not be found out.
	Unknown Status = "unknown"
	// Problem: it does not work, or what was accepted can be lost.
	Problem Status = "problem"
)

// Finding is what one check came to.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Says is what is so, and Do what to do about it, empty where it is well.
	Says string `json:"says"`
	Do   string `json:"do,omitempty"`
}

// Report is what all checks came to.
type Report struct {
	// Status is the worst of the findings: Unknown is no better than Warning.
	Status   Status    `json:"status"`
	Findings []Finding `json:"findings"`
}

var ranks = map[Status]int{OK: 0, Unknown: 1, Warning: 1, Problem: 2}

func (r *Report) add(check string, status Status, do, says string, args ...any) {
	r.Findings = append(r.Findings, Finding{Check: check, Status: status, Says: fmt.Sprintf(says, args...), Do: do})
	if ranks[status] > ranks[r.Status] {
		r.Status = status
	}
}

func (r *Report) ok(check, says string, args ...any) { r.add(check, OK, "", says, args...) }

func (r *Report) warn(check, do, says string, args ...any) { r.add(check, Warning, do, says, args...) }

func (r *Report) problem(check, do, says string, args ...any) {
	r.add(check, Problem, do, says, args...)
}
