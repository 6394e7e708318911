package api

import (
	"reflect"
	"slices"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Groups of the partners' operations.
const (
	groupTriggers   = "Price-signal webhooks"
	groupEndpoints  = "Webhook endpoints"
	groupSchedules  = "Schedules"
	groupHomes      = "Homes and devices"
	groupOnboarding = "Onboarding"
	groupFeedback   = "Feedback"
)

// partnerRoutes returns the table of the partners' operations.
func (s *server) partnerRoutes() []rest.Route {
	return slices.Concat(s.webhookRoutes(), s.endpointRoutes(), s.replayRoutes(), s.scheduleRoutes(), s.homeRoutes(), s.onboardingRoutes())
}

// webhookRoutes returns the operations on triggers and deliveries.
func (s *server) webhookRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/price_signal/trigger", Name: "triggerPriceSignalWebhooks", Group: groupTriggers,
			Summary: "Trigger price-signal webhooks for the homes of an organization",
			Description: "Answers when the trigger is stored durably. Every home that the organization has at that moment " +
				"is then walked to exactly one outcome for each endpoint, whatever fails in between.",
			Scope: storage.ScopeTrigger, Body: rest.BodyRequired, Idempotent: true, Errors: []string{rest.CodeUnavailable},
		}, (*server).trigger),
		do(s, rest.Route{
			Path: "/v1/webhook/price_signal/trigger/{id}/get", Name: "getTrigger", Group: groupTriggers,
			Summary:     "Get how far a trigger has come",
			Description: "A trigger and its deliveries are shown for a week, or for as long as the operator sets with receipts-age. Then it is not found.",
			Scope:       storage.ScopeRead,
		}, (*server).getTrigger),
		do(s, rest.Route{
			Path: "/v1/webhook/price_signal/trigger/list", Name: "listTriggers", Group: groupTriggers,
			Summary: "List the newest triggers first",
			Scope:   storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listTriggers),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/list", Name: "listDeliveries", Group: groupTriggers,
			Summary: "List what became of homes, one delivery a home, endpoint and trigger",
			Description: "The newest triggers first, and of each in the order of homes. Pages stay true while deliveries go on: none is " +
				"listed twice or left out. A page may be shorter than was asked for, even empty, where much had to be looked at; " +
				"next is null at the end.",
			Scope: storage.ScopeRead, Body: rest.BodyOptional, Errors: []string{rest.CodeNotFound},
		}, (*server).listDeliveries),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/{id}/get", Name: "getDelivery", Group: groupTriggers,
			Summary:     "Get a delivery with all its attempts",
			Description: "It is named by its webhook-id.",
			Scope:       storage.ScopeRead,
		}, (*server).getDelivery),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/{id}/retry", Name: "retryDelivery", Group: groupTriggers,
			Summary: "Take up a delivery again that was given up",
			Description: "The message is the same, webhook-id and body, with fresh attempts. Answers when that is stored durably. A delivery " +
				"whose place a newer trigger has taken becomes SUPERSEDED or stays as it is.",
			Scope: storage.ScopeTrigger, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).retryDelivery),
	}
}

// endpointRoutes returns the operations on webhook endpoints.
func (s *server) endpointRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/create", Name: "createEndpoint", Group: groupEndpoints,
			Summary:     "Register where webhooks go",
			Description: "The answer shows the signing secret, this once. An organization with as many endpoints as the operator allows gets 409.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).createEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/list", Name: "listEndpoints", Group: groupEndpoints,
			Summary: "List the endpoints",
			Scope:   storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listEndpoints),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/get", Name: "getEndpoint", Group: groupEndpoints,
			Summary: "Get an endpoint",
			Scope:   storage.ScopeRead,
		}, (*server).getEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/update", Name: "updateEndpoint", Group: groupEndpoints,
			Summary:     "Change an endpoint",
			Description: "Fields that are absent stay as they are.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Partial: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).updateEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/delete", Name: "deleteEndpoint", Group: groupEndpoints,
			Summary: "Delete an endpoint",
			Scope:   storage.ScopeWrite, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).deleteEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/rotate_secret", Name: "rotateEndpointSecret", Group: groupEndpoints,
			Summary:     "Give an endpoint a new signing secret",
			Description: "The answer shows it, this once. The secret before goes on signing beside it for 24 hours.",
			Scope:       storage.ScopeWrite, Body: rest.BodyOptional, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).rotateSecret),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/test", Name: "testEndpoint", Group: groupEndpoints,
			Summary: "Send a webhook.test to an endpoint, once and now, and tell what came of it",
			Scope:   storage.ScopeTrigger, Errors: []string{rest.CodeUnavailable}, Timeout: testTimeout,
		}, (*server).testEndpoint),
	}
}

// replayRoutes returns the operations on replays of an endpoint's failed deliveries.
func (s *server) replayRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/replay", Name: "replayEndpoint", Group: groupEndpoints,
			Summary: "Take up again all deliveries to an endpoint that were given up since a time",
			Description: "Each is the same message, webhook-id and body, with fresh attempts; the newest triggers come first, and what a newer " +
				"trigger has taken the place of is left. Answers when the replay is stored durably.",
			Scope: storage.ScopeTrigger, Body: rest.BodyRequired, Idempotent: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).replayEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/replays/{id}/get", Name: "getReplay", Group: groupEndpoints,
			Summary: "Get how far a replay has come",
			Scope:   storage.ScopeRead,
		}, (*server).getReplay),
		do(s, rest.Route{
			Path: "/v1/webhook/replays/list", Name: "listReplays", Group: groupEndpoints,
			Summary: "List the replays of the last week",
			Scope:   storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listReplays),
	}
}

// scheduleRoutes returns the operations on schedules. A schedule triggers webhooks, so
// its key needs the trigger scope.
func (s *server) scheduleRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/create", Name: "createSchedule", Group: groupSchedules,
			Summary: "Trigger by itself: every so many minutes, by cron in a time zone, or when prices change",
			Description: "Each run is a trigger of its own, made once, whatever fails in between. One that is due while the " +
				"service is down is made when it is back; of several the latest, once. By default it is every quarter hour for the next 24 hours. " +
				"With onPriceChange it is when a plan, its events or the market's hours have changed, of the homes that are affected alone.",
			Scope: storage.ScopeTrigger, Body: rest.BodyOptional, Idempotent: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).createSchedule),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/list", Name: "listSchedules", Group: groupSchedules,
			Summary: "List the schedules",
			Scope:   storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listSchedules),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/{id}/get", Name: "getSchedule", Group: groupSchedules,
			Summary: "Get a schedule, with its next run and its last",
			Scope:   storage.ScopeRead,
		}, (*server).getSchedule),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/{id}/update", Name: "updateSchedule", Group: groupSchedules,
			Summary:     "Change a schedule, from its next run on",
			Description: "Fields that are absent stay as they are; everyMinutes, cron and onPriceChange take each other's place.",
			Scope:       storage.ScopeTrigger, Body: rest.BodyRequired, Partial: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).updateSchedule),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/{id}/delete", Name: "deleteSchedule", Group: groupSchedules,
			Summary: "Delete a schedule",
			Scope:   storage.ScopeTrigger, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).deleteSchedule),
	}
}

// homeRoutes returns the operations on homes and their devices.
func (s *server) homeRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/homes/{id}/price_signal", Name: "getPriceSignal", Group: groupHomes,
			Summary: "Get the price signal of a home",
			Description: "Without a body it is the 24 hours from the start of the current quarter hour. " +
				"A home that cannot be priced is VALIDATION_FAILED on the field that would have to change. " +
				"In the format openadr3 the answer is a list of events of OpenADR 3, with one.",
			Scope: storage.ScopeRead, Body: rest.BodyOptional, Also: reflect.TypeFor[[]wire.OpenADREvent](),
		}, (*server).priceSignal),
		do(s, rest.Route{
			Path: "/v1/homes/{id}/hvac/estimate_savings", Name: "getHVACEstimatedSavings", Group: groupHomes,
			Summary: "Estimate what optimizing a home's heating and cooling saves",
			Description: "Baseline and optimum have the same weather, tariff and house. The baseline keeps the setpoints; " +
				"the optimum moves between minTemp and maxTemp to buy heat or cool when it is cheap.",
			Scope: storage.ScopeRead, Body: rest.BodyRequired, Errors: []string{rest.CodeUnavailable},
		}, (*server).estimateSavings),
		do(s, rest.Route{
			Path: "/v1/homes/{id}/bill", Name: "getBill", Group: groupHomes,
			Summary: "Make the bill of a home for a metered time or a typical year",
			Description: "By the home's rate plan, by another, or by a tariff: energy by period and tier with riders and taxes, fixed, minimum " +
				"and demand charges, and what solar takes off. Without a body it is a typical year of the energy that is assumed of the home. " +
				"It is for comparing plans, and no bill to be paid.",
			Scope: storage.ScopeRead, Body: rest.BodyOptional, Errors: []string{rest.CodeUnavailable},
		}, (*server).bill),
		do(s, rest.Route{
			Path: "/v1/homes/solar/create", Name: "createSolar", Group: groupHomes,
			Summary:     "Register the solar of a home",
			Description: "Creating again replaces.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Idempotent: true, Errors: []string{rest.CodeNotFound, rest.CodeUnavailable},
		}, (*server).createSolar),
		do(s, rest.Route{
			Path: "/v1/devices/hvac/{id}/get", Name: "findHVAC", Group: groupHomes,
			Summary: "Find an HVAC device",
			Scope:   storage.ScopeRead,
		}, (*server).findHVAC),
		do(s, rest.Route{
			Path: "/v1/devices/hvac/{id}/linked", Name: "updateHVACLinkedFlag", Group: groupHomes,
			Summary:     "Say whether an HVAC device is linked to the user",
			Description: "One that is not linked is left out of optimization.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).setLinked),
		do(s, rest.Route{
			Path: "/v1/devices/hvac/{id}/user_preferences/get", Name: "getUserPreference", Group: groupHomes,
			Summary: "Get the schedule of an HVAC device",
			Scope:   storage.ScopeRead,
		}, (*server).getUserPreferences),
	}
}

// onboardingRoutes returns the operations on onboarding and feedback.
func (s *server) onboardingRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/onboarding/eligibility/check", Name: "checkEligibilityForZipcode", Group: groupOnboarding,
			Summary:     "Check what is supported in a zipcode",
			Description: "An unknown zipcode is not supported, which is no error.",
			Scope:       storage.ScopeRead, Body: rest.BodyRequired,
		}, (*server).checkEligibility),
		do(s, rest.Route{
			Path: "/v1/onboarding/status/get", Name: "getOnboardingStatus", Group: groupOnboarding,
			Summary: "Get how far the onboarding of a home has come",
			Scope:   storage.ScopeRead, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound},
		}, (*server).getOnboarding),
		do(s, rest.Route{
			Path: "/v1/onboarding/start", Name: "startOnboarding", Group: groupOnboarding,
			Summary: "Start the onboarding of a home, or start it again after an error",
			Scope:   storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound, rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).startOnboarding),
		do(s, rest.Route{
			Path: "/v1/onboarding/step/complete", Name: "completeOnboardingStep", Group: groupOnboarding,
			Summary:     "Record that a step of the onboarding is completed",
			Description: "The number of steps never falls, and nothing leaves COMPLETED.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound, rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).completeStep),
		do(s, rest.Route{
			Path: "/v1/onboarding/fail", Name: "failOnboarding", Group: groupOnboarding,
			Summary: "Record that the onboarding met an error",
			Scope:   storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound, rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).failOnboarding),
		do(s, rest.Route{
			Path: "/v1/feedback", Name: "submitFeedback", Group: groupFeedback,
			Summary:     "Submit feedback or a question",
			Description: "Takes no key. It is stored durably, and listed to the operator.",
			Open:        true, Body: rest.BodyRequired, Idempotent: true, Errors: []string{rest.CodeUnavailable},
		}, (*server).feedback),
	}
}
