package storage

import "fmt"

// OnboardingStatus is how far a home's onboarding has come.
type OnboardingStatus string

// EligibilityStatus is whether device and region are eligible.
type EligibilityStatus string

// The states.
const (
	OnboardingNotStarted OnboardingStatus = "NOT_STARTED"
	OnboardingInProgress OnboardingStatus = "IN_PROGRESS"
	OnboardingCompleted  OnboardingStatus = "COMPLETED"
	OnboardingError      OnboardingStatus = "ERROR"

	Eligible    EligibilityStatus = "eligible"
	NotEligible EligibilityStatus = "notEligible"
)

// Onboarding is the flow that brings a home in. It is stored under its home's
// identifier: a home has one.
type Onboarding struct {
	ID                  string            `json:"id"`
	HomeID              string            `json:"homeId"`
	Status              OnboardingStatus  `json:"status"`
	EligibilityStatus   EligibilityStatus `json:"eligibilityStatus"`
	ThermostatBrandCode string            `json:"thermostatBrandCode"`
	Zipcode             string            `json:"zipcode"`
	// Step is how many steps the user has completed.
	Step int `json:"step"`
	Base
}

// OnboardingRef names the onboarding of a home.
func OnboardingRef(org, homeID string) Ref { return Ref{KindOnboarding, org, homeID} }

// Ref names the flow, by its home.
func (o *Onboarding) Ref() Ref { return OnboardingRef(o.OrganizationID, o.HomeID) }

// Validate names every wrong field.
func (o *Onboarding) Validate() error {
	var p Problems
	checkID(&p, "id", o.ID)
	checkID(&p, "homeId", o.HomeID)
	checkEnum(&p, "status", o.Status, OnboardingNotStarted, OnboardingInProgress, OnboardingCompleted, OnboardingError)
	checkEnum(&p, "eligibilityStatus", o.EligibilityStatus, Eligible, NotEligible)
	checkText(&p, "thermostatBrandCode", o.ThermostatBrandCode, 0, 255)
	p.Check(o.Zipcode == "" || ValidZipcode(o.Zipcode), "zipcode", "must be a US zipcode such as 60614")
	p.Check(o.Step >= 0, "step", "must not be negative")
	return p.Err()
}

// TransitionError says that a flow's status does not allow what was asked.
type TransitionError struct {
	Status OnboardingStatus
	// Asked is what was asked, in words, and Allowed when it is allowed.
	Asked, Allowed string
}

// Error says what is allowed when.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("the onboarding is %s: %s only %s", e.Status, e.Asked, e.Allowed)
}

// Start begins a flow, or begins again one that failed. Errors: *TransitionError.
func (o *Onboarding) Start() error {
	if o.Status != OnboardingNotStarted && o.Status != OnboardingError {
		return &TransitionError{o.Status, "it is started", "from NOT_STARTED or ERROR"}
	}
	o.Status = OnboardingInProgress
	return nil
}

// CompleteStep records how many steps the user has completed, and with last that
// these are all. The number never falls; the same again changes nothing. Errors:
// *TransitionError.
func (o *Onboarding) CompleteStep(step int, last bool) error {
	const asked = "a step is completed"
	if o.Status != OnboardingInProgress {
		return &TransitionError{o.Status, asked, "while it is IN_PROGRESS"}
	}
	if step < o.Step {
		return &TransitionError{o.Status, asked, fmt.Sprintf("forwards, and %d are completed already", o.Step)}
	}
	o.Step = step
	if last {
		o.Status = OnboardingCompleted
	}
	return nil
}

// Fail records that the flow met an error, from which it can be started again.
// Errors: *TransitionError.
func (o *Onboarding) Fail() error {
	if o.Status != OnboardingInProgress {
		return &TransitionError{o.Status, "it fails", "while it is IN_PROGRESS"}
	}
	o.Status = OnboardingError
	return nil
}
