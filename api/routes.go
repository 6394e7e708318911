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
	groupChannels   = "Notification channels"
	groupHomes      = "Homes and devices"
	groupOnboarding = "Onboarding"
	groupFeedback   = "Feedback"
)

// partnerRoutes returns the table of the partners' operations.
func (s *server) partnerRoutes() []rest.Route {
	return slices.Concat(s.webhookRoutes(), s.endpointRoutes(), s.relayRoutes(), s.replayRoutes(), s.scheduleRoutes(), s.channelRoutes(), s.linkRoutes(),
		s.homeRoutes(), s.onboardingRoutes())
}

// webhookRoutes returns the operations on triggers and deliveries.
func (s *server) webhookRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/price_signal/trigger", Name: "triggerPriceSignalWebhooks", Group: groupTriggers,
			Summary: "Trigger price-signal webhooks for the homes of an organization",
			Description: "Responds when the trigger is stored durably. Every home that the organization has at that moment " +
				"then gets exactly one outcome per endpoint, even after failures and restarts.",
			Scope: storage.ScopeTrigger, Unaudited: true, Body: rest.BodyRequired, Idempotent: true, Errors: []string{rest.CodeUnavailable},
		}, (*server).trigger),
		do(s, rest.Route{
			Path: "/v1/webhook/price_signal/trigger/{id}/get", Name: "getTrigger", Group: groupTriggers,
			Summary:     "Get the progress of a trigger",
			Description: "A trigger and its deliveries are shown for a week, or for the operator's receipts-age. Then the trigger is not found.",
			Scope:       storage.ScopeRead,
		}, (*server).getTrigger),
		do(s, rest.Route{
			Path: "/v1/webhook/price_signal/trigger/list", Name: "listTriggers", Group: groupTriggers,
			Summary: "List triggers, the newest first",
			Scope:   storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listTriggers),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/list", Name: "listDeliveries", Group: groupTriggers,
			Summary: "List the outcomes of deliveries, one per home, endpoint and trigger",
			Description: "The newest triggers come first, and the homes of a trigger in order. Each delivery is listed exactly once, even while " +
				"deliveries continue. A page may be shorter than limit, even empty, before the last page. next is null on the last page.",
			Scope: storage.ScopeRead, Body: rest.BodyOptional, Errors: []string{rest.CodeNotFound},
		}, (*server).listDeliveries),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/{id}/get", Name: "getDelivery", Group: groupTriggers,
			Summary:     "Get a delivery with all its attempts",
			Description: "The identifier is the webhook-id of the delivery.",
			Scope:       storage.ScopeRead,
		}, (*server).getDelivery),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/{id}/request", Name: "getDeliveryRequest", Group: groupTriggers,
			Summary: "Get the HTTP request of a delivery",
			Description: "Bodies are not stored. The response makes the message again and says in bodySource whether it is as it was sent. " +
				"The signature is made now. Secrets are masked.",
			Scope: storage.ScopeRead, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).deliveryRequest),
		do(s, rest.Route{
			Path: "/v1/webhook/deliveries/{id}/retry", Name: "retryDelivery", Group: groupTriggers,
			Summary: "Retry an exhausted or expired delivery",
			Description: "The message has the same webhook-id and body, and new attempts. Responds when the retry is stored durably. A delivery " +
				"that a newer trigger supersedes becomes SUPERSEDED or keeps its outcome.",
			Scope: storage.ScopeTrigger, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).retryDelivery),
	}
}

// endpointRoutes returns the operations on webhook endpoints.
func (s *server) endpointRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/event_types/list", Name: "listEventTypes", Group: groupEndpoints,
			Summary: "List the types of webhooks with the JSON Schemas of their bodies",
			Scope:   storage.ScopeRead,
		}, (*server).listEventTypes),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/create", Name: "createEndpoint", Group: groupEndpoints,
			Summary:     "Create a webhook endpoint",
			Description: "Only this response contains the signing secret. At the operator's limit of endpoints, the response is 409.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Checks: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
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
			Summary:     "Update an endpoint",
			Description: "Absent fields keep their values.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Checks: true, Partial: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).updateEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/delete", Name: "deleteEndpoint", Group: groupEndpoints,
			Summary: "Delete an endpoint",
			Scope:   storage.ScopeWrite, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).deleteEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/rotate_secret", Name: "rotateEndpointSecret", Group: groupEndpoints,
			Summary:     "Rotate the signing secret of an endpoint",
			Description: "Only this response contains the new secret. The old secret also signs for 24 hours.",
			Scope:       storage.ScopeWrite, Body: rest.BodyOptional, Checks: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).rotateSecret),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/test", Name: "testEndpoint", Group: groupEndpoints,
			Summary: "Send one webhook.test to an endpoint immediately and return the outcome",
			Scope:   storage.ScopeTrigger, Errors: []string{rest.CodeUnavailable}, Timeout: testTimeout,
		}, (*server).testEndpoint),
	}
}

// relayRoutes returns the operations of a client that listens at a relay endpoint. The audit
// log has neither: the delivery log has each response.
func (s *server) relayRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/listen", Name: "listenEndpoint", Group: groupEndpoints,
			Summary: "Receive the webhooks of an endpoint over this connection",
			Description: "The url of the endpoint must be relay:listen. The response has one JSON object a line. Each line with a request needs " +
				"a response by /v1/webhook/endpoints/{id}/respond before the endpoint's timeout. Without a client that listens, attempts fail and are " +
				"retried. Several clients share the requests. An endpoint is deleted an hour after a client last began to listen.",
			Scope: storage.ScopeWrite, Unaudited: true, Body: rest.BodyRequired, Checks: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).listenEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/respond", Name: "respondEndpoint", Group: groupEndpoints,
			Summary:     "Respond to a webhook that was received by listening",
			Description: "The status is the outcome of the attempt, as if the endpoint's url had responded. A response after the timeout has no effect.",
			Scope:       storage.ScopeWrite, Unaudited: true, Body: rest.BodyRequired, Checks: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).respondEndpoint),
	}
}

// replayRoutes returns the operations on replays of an endpoint's failed deliveries.
func (s *server) replayRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/webhook/endpoints/{id}/replay", Name: "replayEndpoint", Group: groupEndpoints,
			Summary: "Replay the exhausted and expired deliveries of an endpoint",
			Description: "Each message has the same webhook-id and body, and new attempts. The newest triggers come first. Superseded deliveries " +
				"are skipped. Responds when the replay is stored durably.",
			Scope: storage.ScopeTrigger, Body: rest.BodyRequired, Idempotent: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).replayEndpoint),
		do(s, rest.Route{
			Path: "/v1/webhook/replays/{id}/get", Name: "getReplay", Group: groupEndpoints,
			Summary: "Get the progress of a replay",
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
			Summary: "Create a schedule that triggers periodically, by cron or on price changes",
			Description: "Each run makes exactly one trigger. After a downtime, the service makes up for the latest missed run. " +
				"By default, a schedule runs every quarter hour for the next 24 hours. " +
				"With onPriceChange, it runs when a plan, its events or market prices change, for the affected homes only.",
			Scope: storage.ScopeTrigger, Body: rest.BodyOptional, Checks: true, Idempotent: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).createSchedule),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/list", Name: "listSchedules", Group: groupSchedules,
			Summary: "List the schedules",
			Scope:   storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listSchedules),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/{id}/get", Name: "getSchedule", Group: groupSchedules,
			Summary: "Get a schedule with its next and its last run",
			Scope:   storage.ScopeRead,
		}, (*server).getSchedule),
		do(s, rest.Route{
			Path: "/v1/webhook/schedules/{id}/update", Name: "updateSchedule", Group: groupSchedules,
			Summary:     "Update a schedule, from its next run on",
			Description: "Absent fields keep their values. everyMinutes, cron and onPriceChange are alternatives: one replaces the others.",
			Scope:       storage.ScopeTrigger, Body: rest.BodyRequired, Checks: true, Partial: true, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
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
			Path: "/v1/homes/list", Name: "listOwnHomes", Group: groupHomes,
			Summary:     "List and search the homes",
			Description: "A page may be shorter than limit, even empty, before the last page. next is null on the last page.",
			Scope:       storage.ScopeRead, Body: rest.BodyOptional,
		}, (*server).listOwnHomes),
		do(s, rest.Route{
			Path: "/v1/homes/{id}/get", Name: "getOwnHome", Group: groupHomes,
			Summary: "Get a home",
			Scope:   storage.ScopeRead,
		}, (*server).getOwnHome),
		do(s, rest.Route{
			Path: "/v1/homes/{id}/price_signal", Name: "getPriceSignal", Group: groupHomes,
			Summary: "Get the price signal of a home",
			Description: "Without a body, the signal covers the 24 hours from the start of the current quarter hour. " +
				"For a home that cannot be priced, the error is VALIDATION_FAILED with the field to change. " +
				"In the format openadr3, the response is a list with one OpenADR 3 event.",
			Scope: storage.ScopeRead, Body: rest.BodyOptional, Also: reflect.TypeFor[[]wire.OpenADREvent](),
		}, (*server).priceSignal),
		do(s, rest.Route{
			Path: "/v1/homes/{id}/hvac/estimate_savings", Name: "getHVACEstimatedSavings", Group: groupHomes,
			Summary: "Estimate the savings of optimizing a home's heating and cooling",
			Description: "Baseline and optimum have the same weather, tariff and house. The baseline keeps the setpoints. " +
				"The optimum shifts heating and cooling to cheap hours, between minTemp and maxTemp.",
			Scope: storage.ScopeRead, Body: rest.BodyRequired, Errors: []string{rest.CodeUnavailable},
		}, (*server).estimateSavings),
		do(s, rest.Route{
			Path: "/v1/homes/{id}/bill", Name: "getBill", Group: groupHomes,
			Summary: "Calculate a home's bill for a metered period or a typical year",
			Description: "The bill uses the home's rate plan, another plan or a tariff. It has energy by period and tier with riders and taxes, fixed, minimum " +
				"and demand charges, and the credit for solar. Without a body, it is a typical year of the home's assumed energy. " +
				"It is for comparing plans and not an invoice.",
			Scope: storage.ScopeRead, Body: rest.BodyOptional, Errors: []string{rest.CodeUnavailable},
		}, (*server).bill),
		do(s, rest.Route{
			Path: "/v1/homes/solar/create", Name: "createSolar", Group: groupHomes,
			Summary:     "Register the solar of a home",
			Description: "It replaces an earlier registration.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Checks: true, Idempotent: true, Errors: []string{rest.CodeNotFound, rest.CodeUnavailable},
		}, (*server).createSolar),
		do(s, rest.Route{
			Path: "/v1/devices/hvac/list", Name: "listDevices", Group: groupHomes,
			Summary:     "List the HVAC devices",
			Description: "homeId selects the devices of a home.",
			Scope:       storage.ScopeRead, Body: rest.BodyOptional, Errors: []string{rest.CodeNotFound},
		}, (*server).listDevices),
		do(s, rest.Route{
			Path: "/v1/devices/hvac/{id}/get", Name: "findHVAC", Group: groupHomes,
			Summary: "Find an HVAC device",
			Scope:   storage.ScopeRead,
		}, (*server).findHVAC),
		do(s, rest.Route{
			Path: "/v1/devices/hvac/{id}/linked", Name: "updateHVACLinkedFlag", Group: groupHomes,
			Summary:     "Set whether an HVAC device is linked to the user",
			Description: "Optimization skips an unlinked device.",
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
			Description: "An unknown zipcode is unsupported. It is not an error.",
			Scope:       storage.ScopeRead, Body: rest.BodyRequired,
		}, (*server).checkEligibility),
		do(s, rest.Route{
			Path: "/v1/onboarding/status/get", Name: "getOnboardingStatus", Group: groupOnboarding,
			Summary: "Get the onboarding status of a home",
			Scope:   storage.ScopeRead, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound},
		}, (*server).getOnboarding),
		do(s, rest.Route{
			Path: "/v1/onboarding/start", Name: "startOnboarding", Group: groupOnboarding,
			Summary: "Start the onboarding of a home, or restart it after an error",
			Scope:   storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound, rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).startOnboarding),
		do(s, rest.Route{
			Path: "/v1/onboarding/step/complete", Name: "completeOnboardingStep", Group: groupOnboarding,
			Summary:     "Record that a step of the onboarding is completed",
			Description: "The number of steps never falls. COMPLETED is final.",
			Scope:       storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound, rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).completeStep),
		do(s, rest.Route{
			Path: "/v1/onboarding/fail", Name: "failOnboarding", Group: groupOnboarding,
			Summary: "Record an error in the onboarding",
			Scope:   storage.ScopeWrite, Body: rest.BodyRequired, Errors: []string{rest.CodeNotFound, rest.CodeConflict, rest.CodeUnavailable},
		}, (*server).failOnboarding),
		do(s, rest.Route{
			Path: "/v1/feedback", Name: "submitFeedback", Group: groupFeedback,
			Summary:     "Submit feedback or a question",
			Description: "Requires no key. The feedback is stored durably for the operator.",
			Open:        true, Body: rest.BodyRequired, Checks: true, Idempotent: true, Errors: []string{rest.CodeUnavailable},
		}, (*server).feedback),
	}
}
