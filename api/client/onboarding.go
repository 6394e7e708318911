package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// CheckEligibility returns the supported features in a zipcode.
func (c *Client) CheckEligibility(ctx context.Context, zipcode string) (wire.Eligibility, error) {
	return Call[wire.Eligibility](ctx, c, "/v1/onboarding/eligibility/check", wire.ZipcodeInput{Zipcode: zipcode})
}

// OnboardingStatus returns the progress of a home's onboarding.
func (c *Client) OnboardingStatus(ctx context.Context, homeID string) (storage.Onboarding, error) {
	return Call[storage.Onboarding](ctx, c, "/v1/onboarding/status/get", wire.HomeIDInput{HomeID: homeID})
}

// OnboardingStart has the fields to start an onboarding.
type OnboardingStart = wire.StartOnboardingInput

// StartOnboarding starts the onboarding of a home, or restarts it after an error.
func (c *Client) StartOnboarding(ctx context.Context, s OnboardingStart) (storage.Onboarding, error) {
	return Call[storage.Onboarding](ctx, c, "/v1/onboarding/start", s)
}

// OnboardingStep is a completed step.
type OnboardingStep = wire.CompleteStepInput

// CompleteOnboardingStep records that a step is completed.
func (c *Client) CompleteOnboardingStep(ctx context.Context, s OnboardingStep) (storage.Onboarding, error) {
	return Call[storage.Onboarding](ctx, c, "/v1/onboarding/step/complete", s)
}

// FailOnboarding records an error in the onboarding of a home.
func (c *Client) FailOnboarding(ctx context.Context, homeID string) (storage.Onboarding, error) {
	return Call[storage.Onboarding](ctx, c, "/v1/onboarding/fail", wire.HomeIDInput{HomeID: homeID})
}
