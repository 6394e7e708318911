package jetstream

import "github.com/gridhook/gridhook/storage"

// Retention is what bounds some records and what removes them.
type Retention struct {
	// Records names the records, and Stream the stream that holds them.
	Records, Stream string
	// Kinds are the kinds of the records, if the stream is the log of record.
	Kinds []storage.Kind
	// Bound and Removed are Markdown. A setting is in backquotes.
	Bound, Removed string
}

type kinds = []storage.Kind

// Retentions has the retention of every record. The operator's guide shows it.
var Retentions = []Retention{
	{"organizations, utilities, areas, shared plans", stateStream, kinds{storage.KindOrganization, storage.KindUtility, storage.KindDemandResponse, storage.KindArea}, "the operator", "by the operator. A [deleted organization](#deleting-an-organization) takes everything of its own with it"},
	{"API keys", stateStream, kinds{storage.KindKey, storage.KindKeyUse}, "`max-keys` that are neither revoked nor expired", "30 days after their revocation or expiry, and still refused. Keys of console links: within 10 minutes"},
	{"operator keys", stateStream, kinds{storage.KindOperatorKey}, "the operator", "never: a revoked key stays refused"},
	{"the version of the schema, and the key that encrypts secrets", stateStream, kinds{storage.KindSchema, storage.KindVault}, "one of each", "never"},
	{"homes", stateStream, kinds{storage.KindHome}, "`max-homes`", "by the organization"},
	{"schedules", stateStream, kinds{storage.KindSchedule}, "`max-schedules`", "by the organization"},
	{"devices with their schedules, plans, events of plans, market series", stateStream, kinds{storage.KindHVACDevice, storage.KindUserPreferences, storage.KindRatePlan, storage.KindPlanEvent, storage.KindMarketSeries}, "`max-state`, as for all records of an organization", "by the organization. Devices go with their home, too"},
	{"solar, usage, market and onboarding of a home", stateStream, kinds{storage.KindSolar, storage.KindUsage, storage.KindHomeMarket, storage.KindOnboarding}, "one of each a home", "with the home"},
	{"measured load of a home", stateStream, kinds{storage.KindMeasuredLoad}, "13 months a home, about 2 KB", "by newer months, and with the home"},
	{"market prices", stateStream, kinds{storage.KindMarketPrices}, "731 days a series", "by newer prices, and with the series"},
	{"webhook endpoints", stateStream, kinds{storage.KindWebhookEndpoint}, "`max-endpoints`", "by the organization; [relay endpoints](endpoints.md#relay) also an hour after a client last began to listen"},
	{"notification channels", stateStream, kinds{storage.KindChannel}, "`max-channels`", "by the organization, or the operator"},
	{"sources", stateStream, kinds{storage.KindSource}, "`max-sources` for each organization and for the operator", "by the operator"},
	{"the state of a source with its last 20 runs", stateStream, kinds{storage.KindSourceState}, "one a source", "with the source"},
	{"OpenADR programs, events, subscriptions, VENs and resources", stateStream, kinds{storage.KindOpenADRProgram, storage.KindOpenADREvent, storage.KindOpenADRSubscription, storage.KindOpenADRVEN, storage.KindOpenADRResource}, "`openadr-max-objects` of each", "by the client"},
	{"OpenADR reports", stateStream, kinds{storage.KindOpenADRReport}, "`openadr-max-objects`", "after `openadr-report-retention`"},
	{"replays", stateStream, kinds{storage.KindReplay}, "10,000 of each organization", "7 days after completion"},
	{"deletions", stateStream, nil, "`max-state`, as for all records of an organization", "after 30 days"},
	{"marks of deleted organizations", stateStream, kinds{storage.KindErasure}, "one for each", "a day after the longest of 30 days, `triggers-age` and `receipts-age`"},
	{"marks of deleted solar, usage, measured load or market settings of an existing home", stateStream, nil, "one for each", "30 days after the deletion of the home"},
	{"deletions of a plan or series that a shared one replaces", stateStream, nil, "one for each", "when the plan or series is created again"},
	{"idempotency keys", requestsStream, nil, "100,000 of at most 32 KiB, the oldest go first. `max-idempotency-keys` for each organization", "24 hours after the first request, in NATS after 25 hours"},
	{"feedback", feedbackStream, nil, "2,000 in all, of at most 256 KiB each; the oldest go first", "after 365 days, or by the operator"},
	{"audit entries", auditStream, nil, "5,000 of each organization, key and operation, 1,000,000 in all, the oldest go first", "`audit-age`"},
	{"triggers", triggersStream, nil, "`max-waiting`, `max-history`", "`triggers-age`"},
	{"receipts, and in each ledger the delivery log and triggers as the API shows them", receiptsStream, nil, "`max-history`", "`receipts-age`"},
	{"notices", noticesStream, nil, "one a trigger, a disabled endpoint, and an alert for each organization, and [those for people](notifications.md#events)", "the longer of `triggers-age` and `receipts-age`"},
	{"slices of walks", workStream, nil, "a few for each running trigger", "when they are processed"},
	{"retries", retriesStream, nil, "the homes of `max-waiting` triggers for each endpoint; their bytes are not counted", "when they are sent, at most 24 hours"},
	{"tasks", tasksStream, nil, "one a schedule, replay, change of a source, and notice of an endpoint or a channel", "when they are done"},
	{"last signals of endpoints with `onChange`", knownStream, nil, "one for each endpoint and 64 homes", "by the next, or after 30 days: then Gridhook sends an unchanged signal once more"},
	{"positions of walks", walksStream, nil, "one a trigger", "after 25 hours"},
	{"dead letters", DeadStream, nil, "1,000, the oldest go first", "after 30 days"},
}
