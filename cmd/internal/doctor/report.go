package doctor

import (
	"fmt"
	"strconv"
)

// Status is the severity of a finding.
type Status string

// These are the statuses.
const (
	// OK: no remedy is needed.
	OK Status = "ok"
	// Warning: it works but has a risk, which may be intended.
	Warning Status = "warning"
	// Unknown: the check could not get the facts.
	Unknown Status = "unknown"
	// Problem: it does not work, or accepted work can be lost.
	Problem Status = "problem"
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Message is the fact. Remedy is the remedy, empty if none is needed.
	Message string `json:"says"`
	Remedy  string `json:"do,omitempty"`
}

// Report is the result of all checks.
type Report struct {
	// Status is the worst status of the findings. Unknown and Warning rank equally.
	Status   Status    `json:"status"`
	Findings []Finding `json:"findings"`
}

var ranks = map[Status]int{OK: 0, Unknown: 1, Warning: 1, Problem: 2}

func (r *Report) add(check string, status Status, remedy, message string, args ...any) {
	r.Findings = append(r.Findings, Finding{Check: check, Status: status, Message: fmt.Sprintf(message, args...), Remedy: remedy})
	if ranks[status] > ranks[r.Status] {
		r.Status = status
	}
}

func (r *Report) ok(check, message string, args ...any) { r.add(check, OK, "", message, args...) }

func (r *Report) warn(check, remedy, message string, args ...any) {
	r.add(check, Warning, remedy, message, args...)
}

func (r *Report) problem(check, remedy, message string, args ...any) {
	r.add(check, Problem, remedy, message, args...)
}

// counted returns a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
