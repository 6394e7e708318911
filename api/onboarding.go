package api

import (
	"cmp"
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// flow returns a home's onboarding flow, and whether it is stored. A home without a
// record is NOT_STARTED. A home has only one flow, so such a flow has the home's identifier
// and timestamps.
func (s *server) flow(org, homeID string) (o storage.Onboarding, stored bool, err error) {
	err = s.Store.View(func(v storage.View) error {
		home, _, err := storage.Read[storage.Home](v, storage.KindHome.Ref(org, homeID))
		if err != nil {
			return err
		}
		o, _, err = storage.Read[storage.Onboarding](v, storage.KindOnboarding.Ref(org, homeID))
		if stored = err == nil; !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		o = storage.Onboarding{ID: home.ID, HomeID: home.ID, Status: storage.OnboardingNotStarted, Zipcode: home.Zipcode, Base: home.Base}
		o.EligibilityStatus, err = s.eligible(v, org, home.Zipcode)
		return err
	})
	return o, stored, err
}

func (s *server) getOnboarding(_ context.Context, c *rest.Call, in *wire.HomeIDInput) (storage.Onboarding, error) {
	o, _, err := s.flow(c.Org, in.HomeID)
	return o, err
}

// changeFlow changes a home's flow and stores it.
func (s *server) changeFlow(ctx context.Context, c *rest.Call, homeID string, change func(*storage.Onboarding) error) (storage.Onboarding, error) {
	o, stored, err := s.flow(c.Org, homeID)
	if err != nil {
		return storage.Onboarding{}, err
	}
	if !stored {
		if err := change(&o); err != nil {
			return o, err
		}
		if err := s.Store.Create(ctx, &o); !errors.Is(err, storage.ErrExists) {
			return o, err
		}
	}
	return storage.Update(ctx, s.Store, storage.KindOnboarding.Ref(c.Org, homeID), change)
}

func (s *server) startOnboarding(ctx context.Context, c *rest.Call, in *wire.StartOnboardingInput) (storage.Onboarding, error) {
	return s.changeFlow(ctx, c, in.HomeID, func(o *storage.Onboarding) error {
		o.Zipcode = cmp.Or(in.Zipcode, o.Zipcode)
		o.ThermostatBrandCode = cmp.Or(in.ThermostatBrandCode, o.ThermostatBrandCode)
		err := s.Store.View(func(v storage.View) (err error) {
			o.EligibilityStatus, err = s.eligible(v, c.Org, o.Zipcode)
			return err
		})
		return errors.Join(err, o.Start())
	})
}

// maxSteps is the maximum number of steps of a flow.
const maxSteps = 1000

func (s *server) completeStep(ctx context.Context, c *rest.Call, in *wire.CompleteStepInput) (storage.Onboarding, error) {
	return s.changeFlow(ctx, c, in.HomeID, func(o *storage.Onboarding) error {
		o.Step = min(o.Step, maxSteps) // earlier versions imported larger numbers
		return o.CompleteStep(valueOr(in.Step, min(o.Step+1, maxSteps)), in.Completed)
	})
}

func (s *server) failOnboarding(ctx context.Context, c *rest.Call, in *wire.HomeIDInput) (storage.Onboarding, error) {
	return s.changeFlow(ctx, c, in.HomeID, (*storage.Onboarding).Fail)
}
