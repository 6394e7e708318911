package api

import (
	"reflect"
	"slices"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// group is a group of operations, with its heading and its text in the documentation.
type group struct {
	name, description string
	operations        []operation
}

// partnerGroups are the partners' operations in the order of the documentation.
// operatorGroup has the operations for the operator only, which come last.
var (
	partnerGroups = []group{
		{"Price-signal webhooks", "Trigger the price signals of an organization's homes, and read the outcome of each delivery.", webhookRoutes},
		{"Webhook endpoints", "Destinations of webhooks, and their signatures.", slices.Concat(endpointRoutes, relayRoutes, replayRoutes)},
		{"Schedules", "Automatic triggers.", scheduleRoutes},
		{"Notification channels", "Where people hear of failing endpoints, failed triggers and near quotas.", channelRoutes},
		{"Console links", "Links that open the console without a sign-in.", linkRoutes},
		{"Homes and devices", "Prices, bills, savings and solar of a home, and its heating and cooling devices.", homeRoutes},
		{"Onboarding", "Supported areas, and the onboarding of homes.", onboardingRoutes},
		{"Feedback", "Messages to the operator.", feedbackRoutes},
	}
	operatorGroup = group{"Operator", "Organizations, keys, and the data of the partners' operations.", slices.Concat(
		organizationRoutes, ownedHomeRoutes, planRoutes, signalRoutes, sourceRoutes, factRoutes, operatorKeyRoutes, auditRoutes, tenantRoutes,
	)}
)

// groups returns the groups of operations that the audience's listener serves.
func (a Audience) groups() []group {
	if a == AudienceOperator {
		return append(slices.Clip(partnerGroups), operatorGroup)
	}
	return partnerGroups
}

// Routes returns the operations that the audience's listener serves. The partners'
// operations come first.
func (a Audience) Routes() []rest.Route { return (&server{}).routes(a) }

// routes returns the routes of an audience at a server.
func (s *server) routes(a Audience) (all []rest.Route) {
	for _, g := range a.groups() {
		for _, route := range g.operations {
			r := route(s)
			r.Group = g.name
			all = append(all, r)
		}
	}
	return all
}

// webhookRoutes are the operations on triggers and deliveries.
var webhookRoutes = []operation{
	do(rest.Route{
		Path: "/v1/webhook/price_signal/trigger", Name: "triggerPriceSignalWebhooks", Scope: storage.ScopeTrigger, Unaudited: true, Idempotent: true, Body: rest.BodyRequired,
		Summary: "Trigger price-signal webhooks for the homes of an organization",
		Description: "Responds when the trigger is stored durably. Every home that the organization has at that moment " +
			"then gets exactly one outcome per endpoint, even after failures and restarts.",
	}, (*server).trigger),
	do(rest.Route{
		Path: "/v1/webhook/price_signal/trigger/{id}/get", Name: "getTrigger", Scope: storage.ScopeRead,
		Summary:     "Get the progress of a trigger",
		Description: "A trigger and its deliveries are shown for a week, or for the operator's receipts-age. Then the trigger is not found.",
	}, (*server).getTrigger),
	do(rest.Route{Path: "/v1/webhook/price_signal/trigger/list", Name: "listTriggers", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, Summary: "List triggers, the newest first"}, (*server).listTriggers),
	do(rest.Route{
		Path: "/v1/webhook/deliveries/list", Name: "listDeliveries", Scope: storage.ScopeRead, OfOperator: true, Errors: []string{rest.CodeUnavailable},
		Summary: "List the outcomes of deliveries, one per home, endpoint and trigger",
		Description: "The newest triggers come first, and the homes of a trigger in order. Each delivery is listed exactly once, even while " +
			"deliveries continue. A page may be shorter than limit, even empty, before the last page. next is null on the last page. " +
			"With events, the deliveries of events are listed instead, the newest event first. An operator key without an organization " +
			"gets the messages to the operator's channels.",
	}, (*server).listDeliveries),
	do(rest.Route{
		Path: "/v1/webhook/deliveries/history", Name: "getDeliveryHistory", Scope: storage.ScopeRead, OfOperator: true, Errors: []string{rest.CodeUnavailable},
		Summary:     "Get the deliveries of the last 24 hours by hour",
		Description: "A delivery counts in the hour of its trigger. Without an organization, an operator key gets the sums over all organizations.",
	}, (*server).deliveryHistory),
	do(rest.Route{
		Path: "/v1/webhook/deliveries/{id}/get", Name: "getDelivery", Scope: storage.ScopeRead, OfOperator: true, Errors: []string{rest.CodeUnavailable},
		Summary:     "Get a delivery with all its attempts",
		Description: "The identifier is the webhook-id of the delivery.",
	}, (*server).getDelivery),
	do(rest.Route{
		Path: "/v1/webhook/deliveries/{id}/request", Name: "getDeliveryRequest", Scope: storage.ScopeRead, Errors: []string{rest.CodeConflict, rest.CodeUnavailable},
		Summary: "Get the HTTP request of a delivery",
		Description: "Bodies are not stored. The response makes the message again and says in bodySource whether it is as it was sent. " +
			"The signature is made now. Secrets are masked.",
	}, (*server).deliveryRequest),
	do(rest.Route{
		Path: "/v1/webhook/deliveries/{id}/retry", Name: "retryDelivery", Scope: storage.ScopeTrigger,
		Summary: "Retry an exhausted or expired delivery",
		Description: "The message has the same webhook-id and body, and new attempts. Responds when the retry is stored durably. A delivery " +
			"that the newest trigger supersedes gets response 409. If another newer trigger supersedes it, it becomes SUPERSEDED.",
	}, (*server).retryDelivery),
}

// endpointRoutes are the operations on webhook endpoints.
var endpointRoutes = []operation{
	do(rest.Route{
		Path: "/v1/webhook/event_types/list", Name: "listEventTypes", Scope: storage.ScopeRead,
		Summary: "List the types of webhooks with the JSON Schemas of their bodies",
	}, (*server).listEventTypes),
	do(rest.Route{
		Path: "/v1/webhook/endpoints/create", Name: "createEndpoint", Scope: storage.ScopeWrite, Idempotent: true, Checks: true,
		Summary:     "Create a webhook endpoint",
		Description: "Only this response, and its repeat with the same Idempotency-Key, contains the signing secret. At the operator's limit of endpoints, the response is 409.",
	}, (*server).createEndpoint),
	do(rest.Route{Path: "/v1/webhook/endpoints/list", Name: "listEndpoints", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, Summary: "List the endpoints"}, (*server).listEndpoints),
	do(rest.Route{Path: "/v1/webhook/endpoints/{id}/get", Name: "getEndpoint", Scope: storage.ScopeRead, Summary: "Get an endpoint"}, (*server).getEndpoint),
	do(rest.Route{
		Path: "/v1/webhook/endpoints/{id}/update", Name: "updateEndpoint", Scope: storage.ScopeWrite, Checks: true, Partial: true,
		Summary:     "Update an endpoint",
		Description: "Absent fields keep their values.",
	}, (*server).updateEndpoint),
	do(rest.Route{Path: "/v1/webhook/endpoints/{id}/delete", Name: "deleteEndpoint", Scope: storage.ScopeWrite, Summary: "Delete an endpoint"}, deleteOf[struct{}](storage.KindWebhookEndpoint)),
	do(rest.Route{
		Path: "/v1/webhook/endpoints/{id}/rotate_secret", Name: "rotateEndpointSecret", Scope: storage.ScopeWrite, Checks: true,
		Summary:     "Rotate the signing secret of an endpoint",
		Description: "Only this response contains the new secret. The old secret also signs for 24 hours.",
	}, (*server).rotateSecret),
	do(rest.Route{
		Path: "/v1/webhook/endpoints/{id}/test", Name: "testEndpoint", Scope: storage.ScopeTrigger, Timeout: testTimeout, Errors: []string{rest.CodeUnavailable},
		Summary: "Send one webhook.test to an endpoint immediately and return the outcome",
	}, (*server).testEndpoint),
}

// relayRoutes are the operations of a client that listens at a relay endpoint. The audit
// log has neither: the delivery log has each response.
var relayRoutes = []operation{
	do(rest.Route{
		Path: "/v1/webhook/endpoints/{id}/listen", Name: "listenEndpoint", Scope: storage.ScopeWrite, Unaudited: true, Checks: true, Out: reflect.TypeFor[events.RelayLine](), Streams: true,
		Summary: "Receive the webhooks of an endpoint over this connection",
		Description: "The url of the endpoint must be relay:listen. The response has one JSON object a line. Each line with a request needs " +
			"a response by /v1/webhook/endpoints/{id}/respond before the endpoint's timeout. Without a client that listens, attempts fail and are " +
			"retried. Several clients share the requests. An endpoint is deleted an hour after a client last began to listen.",
	}, (*server).listenEndpoint),
	do(rest.Route{
		Path: "/v1/webhook/endpoints/{id}/respond", Name: "respondEndpoint", Scope: storage.ScopeWrite, Unaudited: true, Body: rest.BodyRequired, Checks: true,
		Summary:     "Respond to a webhook that was received by listening",
		Description: "The status is the outcome of the attempt, as if the endpoint's url had responded. A response after the timeout has no effect.",
	}, (*server).respondEndpoint),
}

// replayRoutes are the operations on replays of an endpoint's failed deliveries.
var replayRoutes = []operation{
	do(rest.Route{
		Path: "/v1/webhook/endpoints/{id}/replay", Name: "replayEndpoint", Scope: storage.ScopeTrigger, Idempotent: true,
		Summary: "Replay the exhausted and expired deliveries of an endpoint",
		Description: "Each message has the same webhook-id and body, and new attempts. The newest triggers come first. Superseded deliveries " +
			"are skipped. Responds when the replay is stored durably.",
	}, (*server).replayEndpoint),
	do(rest.Route{Path: "/v1/webhook/replays/{id}/get", Name: "getReplay", Scope: storage.ScopeRead, Summary: "Get the progress of a replay"}, getOf[struct{}](storage.KindReplay, plain(showReplay))),
	do(rest.Route{Path: "/v1/webhook/replays/list", Name: "listReplays", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, Summary: "List the replays of the last week"}, listOf[wire.PageInput](storage.KindReplay, plain(showReplay))),
}

// scheduleRoutes are the operations on schedules. A schedule triggers webhooks, so
// its key needs the trigger scope.
var scheduleRoutes = []operation{
	do(rest.Route{
		Path: "/v1/webhook/schedules/create", Name: "createSchedule", Scope: storage.ScopeTrigger, Idempotent: true, Checks: true,
		Summary: "Create a schedule that triggers periodically, by cron or on price changes",
		Description: "Each run makes exactly one trigger. After a downtime, the service makes up for the latest missed run. " +
			"By default, a schedule runs every quarter hour for the next 24 hours. " +
			"With onPriceChange, it runs when a plan, its events or market prices change, for the affected homes only.",
	}, (*server).createSchedule),
	do(rest.Route{Path: "/v1/webhook/schedules/list", Name: "listSchedules", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, Summary: "List the schedules"}, listOf[wire.PageInput](storage.KindSchedule, (*server).showSchedule)),
	do(rest.Route{Path: "/v1/webhook/schedules/{id}/get", Name: "getSchedule", Scope: storage.ScopeRead, Summary: "Get a schedule with its next and its last run"}, getOf[struct{}](storage.KindSchedule, (*server).showSchedule)),
	do(rest.Route{
		Path: "/v1/webhook/schedules/{id}/update", Name: "updateSchedule", Scope: storage.ScopeTrigger, Checks: true, Partial: true,
		Summary:     "Update a schedule, from its next run on",
		Description: "Absent fields keep their values. everyMinutes, cron and onPriceChange are alternatives: one replaces the others.",
	}, (*server).updateSchedule),
	do(rest.Route{Path: "/v1/webhook/schedules/{id}/delete", Name: "deleteSchedule", Scope: storage.ScopeTrigger, Summary: "Delete a schedule"}, deleteOf[struct{}](storage.KindSchedule)),
}

// homeRoutes are the operations on homes and their devices.
var homeRoutes = []operation{
	do(rest.Route{
		Path: "/v1/homes/list", Name: "listOwnHomes", Scope: storage.ScopeHomes, Errors: []string{rest.CodeUnavailable},
		Summary:     "List and search the homes",
		Description: "A page may be shorter than limit, even empty, before the last page. next is null on the last page. The scope read includes homes:read.",
	}, (*server).listOwnHomes),
	do(rest.Route{Path: "/v1/homes/{id}/get", Name: "getOwnHome", Scope: storage.ScopeRead, Summary: "Get a home with its solar"}, getHome[struct{}]()),
	do(rest.Route{
		Path: "/v1/homes/{id}/price_signal", Name: "getPriceSignal", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, Out: reflect.TypeFor[wire.PriceSignal](), Also: reflect.TypeFor[[]wire.OpenADREvent](),
		Summary: "Get the price signal of a home",
		Description: "Without a body, the signal covers the 24 hours from the start of the current quarter hour. " +
			"For a home that cannot be priced, the error is VALIDATION_FAILED with the field to change. " +
			"In the format openadr3, the response is a list with one OpenADR 3 event.",
	}, (*server).priceSignal),
	do(rest.Route{
		Path: "/v1/homes/{id}/hvac/estimate_savings", Name: "getHVACEstimatedSavings", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, EndsWithClient: true,
		Summary: "Estimate the savings of optimizing a home's heating and cooling",
		Description: "Baseline and optimum have the same weather, tariff and house. The baseline keeps the setpoints. " +
			"The optimum shifts heating and cooling to cheap hours, between minTemp and maxTemp.",
	}, (*server).estimateSavings),
	do(rest.Route{
		Path: "/v1/homes/{id}/bill", Name: "getBill", Scope: storage.ScopeRead, Errors: []string{rest.CodeUnavailable}, EndsWithClient: true,
		Summary: "Calculate a home's bill for a metered period or a typical year",
		Description: "The bill uses the home's rate plan, another plan or a tariff. It has energy by period and tier with riders and taxes, fixed, minimum " +
			"and demand charges, and the credit for solar. Without a body, it is a typical year of the home's assumed energy. " +
			"It is for comparing plans and not an invoice.",
	}, (*server).bill),
	do(rest.Route{
		Path: "/v1/homes/solar/create", Name: "createSolar", Scope: storage.ScopeWrite, Idempotent: true, Checks: true,
		Summary:     "Register the solar of a home",
		Description: "It replaces an earlier registration.",
	}, (*server).createSolar),
	do(rest.Route{
		Path: "/v1/devices/hvac/list", Name: "listDevices", Scope: storage.ScopeRead, Errors: []string{rest.CodeNotFound, rest.CodeUnavailable},
		Summary:     "List the HVAC devices",
		Description: "homeId selects the devices of a home.",
	}, (*server).listDevices),
	do(rest.Route{Path: "/v1/devices/hvac/{id}/get", Name: "findHVAC", Scope: storage.ScopeRead, Summary: "Find an HVAC device"}, (*server).findHVAC),
	do(rest.Route{
		Path: "/v1/devices/hvac/{id}/linked", Name: "updateHVACLinkedFlag", Scope: storage.ScopeWrite,
		Summary:     "Set whether an HVAC device is linked to the user",
		Description: "Optimization skips an unlinked device.",
	}, (*server).setLinked),
	do(rest.Route{
		Path: "/v1/devices/hvac/{id}/user_preferences/get", Name: "getUserPreference", Scope: storage.ScopeRead,
		Summary: "Get the schedule of an HVAC device",
	}, (*server).getUserPreferences),
}

// onboardingRoutes are the operations on onboarding.
var onboardingRoutes = []operation{
	do(rest.Route{
		Path: "/v1/onboarding/eligibility/check", Name: "checkEligibilityForZipcode", Scope: storage.ScopeRead,
		Summary:     "Check whether homes in a zipcode are supported",
		Description: "An unknown zipcode is unsupported. It is not an error.",
	}, (*server).checkEligibility),
	do(rest.Route{Path: "/v1/onboarding/status/get", Name: "getOnboardingStatus", Scope: storage.ScopeRead, Summary: "Get the onboarding status of a home"}, (*server).getOnboarding),
	do(rest.Route{
		Path: "/v1/onboarding/start", Name: "startOnboarding", Scope: storage.ScopeWrite,
		Summary: "Start the onboarding of a home, or restart it after an error",
	}, (*server).startOnboarding),
	do(rest.Route{
		Path: "/v1/onboarding/step/complete", Name: "completeOnboardingStep", Scope: storage.ScopeWrite,
		Summary:     "Record that a step of the onboarding is completed",
		Description: "The number of steps never falls. COMPLETED is final.",
	}, (*server).completeStep),
	do(rest.Route{Path: "/v1/onboarding/fail", Name: "failOnboarding", Scope: storage.ScopeWrite, Summary: "Record an error in the onboarding"}, (*server).failOnboarding),
}

// feedbackRoutes has the operation on feedback.
var feedbackRoutes = []operation{
	do(rest.Route{
		Path: "/v1/feedback", Name: "submitFeedback", Open: true, Idempotent: true, Checks: true,
		Summary:     "Submit feedback or a question",
		Description: "Requires no key. The feedback is stored durably for the operator.",
	}, (*server).feedback),
}
