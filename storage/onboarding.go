package storage

import "fmt"

// OnboardingStatus is the progress of a home's onboarding.
type OnboardingStatus string

// EligibilityStatus says whether device and region are eligible.
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

// Onboarding is the onboarding flow of a home. It is stored under the home's identifier:
// a home has one flow.
type Onboarding struct {
	ID                  string            `json:"id" pattern:"id" example:"home_1"`
	HomeID              string            `json:"homeId" pattern:"id" example:"home_1"`
	Status              OnboardingStatus  `json:"status" doc:"A flow goes from NOT_STARTED to IN_PROGRESS to COMPLETED, or from IN_PROGRESS to ERROR and back. COMPLETED is final." example:"IN_PROGRESS"`
	EligibilityStatus   EligibilityStatus `json:"eligibilityStatus" doc:"Whether the device and the region are eligible."`
	ThermostatBrandCode string            `json:"thermostatBrandCode" maxLength:"255" example:"brand-x"`
	Zipcode             string            `json:"zipcode" pattern:"zipcodeOrEmpty" example:"60614"`
	Step                int               `json:"step" minimum:"0" maximum:"1000" doc:"The number of steps that the user has completed." example:"2"`
	Base
}

// Ref names the flow by its home.
func (o *Onboarding) Ref() Ref { return KindOnboarding.Ref(o.OrganizationID, o.HomeID) }

// Check adds every wrong field.
func (o *Onboarding) Check(p *Problems) {
	CheckID(p, "id", o.ID)
	checkEnum(p, "status", o.Status, OnboardingNotStarted, OnboardingInProgress, OnboardingCompleted, OnboardingError)
	checkEnum(p, "eligibilityStatus", o.EligibilityStatus, Eligible, NotEligible)
}

// TransitionError says that a flow's status does not allow an operation.
type TransitionError struct {
	Status OnboardingStatus
	// Asked describes the operation. Allowed describes when it is allowed.
	Asked, Allowed string
}

// Error says which operation is allowed when.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("the onboarding is %s: %s only %s", e.Status, e.Asked, e.Allowed)
}

// Start begins a flow, or restarts a failed flow. Errors: *TransitionError.
func (o *Onboarding) Start() error {
	if o.Status != OnboardingNotStarted && o.Status != OnboardingError {
		return &TransitionError{o.Status, "it is started", "from NOT_STARTED or ERROR"}
	}
	o.Status = OnboardingInProgress
	return nil
}

// CompleteStep records the number of steps that the user has completed. With last it
// completes the flow. The number never falls. Repeating the same step changes nothing.
// Errors: *TransitionError.
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

// Fail records that the flow failed. Start can restart it. Errors: *TransitionError.
func (o *Onboarding) Fail() error {
	if o.Status != OnboardingInProgress {
		return &TransitionError{o.Status, "it fails", "while it is IN_PROGRESS"}
	}
	o.Status = OnboardingError
	return nil
}
