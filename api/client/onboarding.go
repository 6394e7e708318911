package client

import (
	"context"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

// CheckEligibility says what is supported in a zipcode.
func (c *Client) CheckEligibility(ctx context.Context, zipcode string) (eligibility.Result, error) {
	in := struct {
		Zipcode string `json:"zipcode"`
	}{zipcode}
	return call[eligibility.Result](ctx, c, "/v1/onboarding/eligibility/check", in)
}

// ofHome asks for something of a home.
type ofHome struct {
	HomeID string `json:"homeId"`
}

// OnboardingStatus says how far the onboarding of a home has come.
func (c *Client) OnboardingStatus(ctx context.Context, homeID string) (storage.Onboarding, error) {
	return call[storage.Onboarding](ctx, c, "/v1/onboarding/status/get", ofHome{homeID})
}

// OnboardingStart is what an onboarding starts with.
type OnboardingStart struct {
	HomeID string `json:"homeId"`
	// Zipcode is the home's when empty.
	Zipcode             string `json:"zipcode,omitempty"`
	ThermostatBrandCode string `json:"thermostatBrandCode,omitempty"`
}

// StartOnboarding starts the onboarding of a home, or starts it again after an
// error.
func (c *Client) StartOnboarding(ctx context.Context, s OnboardingStart) (storage.Onboarding, error) {
	return call[storage.Onboarding](ctx, c, "/v1/onboarding/start", s)
}

// OnboardingStep is a step that was completed.
type OnboardingStep struct {
	HomeID string `json:"homeId"`
	// Step is how many steps are completed now, nil for one more.
	Step *int `json:"step,omitempty"`
	// Completed marks the last step.
	Completed bool `json:"completed,omitempty"`
}

// CompleteOnboardingStep records that a step is completed.
func (c *Client) CompleteOnboardingStep(ctx context.Context, s OnboardingStep) (storage.Onboarding, error) {
	return call[storage.Onboarding](ctx, c, "/v1/onboarding/step/complete", s)
}

// FailOnboarding records that the onboarding of a home met an error.
func (c *Client) FailOnboarding(ctx context.Context, homeID string) (storage.Onboarding, error) {
	return call[storage.Onboarding](ctx, c, "/v1/onboarding/fail", ofHome{homeID})
}
