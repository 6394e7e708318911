package storage

import "slices"

// Retention says how long the log of record stores a kind of entity, and what bounds the
// kind's number.
type Retention struct {
	Kind Kind
	// Bound describes the limit on the number of live entities.
	Bound string
	// Removed describes how live entities are removed.
	Removed string
	// Outlived says that the kind's tombstone is the newest change of an entity that
	// remains. For example, a home has a newer signal after its solar was deleted, not
	// its earlier signal again. The log stores such a tombstone as long as the entity
	// remains. It removes any other tombstone after DeletionsAge.
	Outlived bool
}

// Retentions returns the retention of every kind in the log of record. Package
// events/jetstream defines the retention of other streams.
func Retentions() []Retention {
	return []Retention{
		{Kind: KindSchema, Bound: "one", Removed: "never"},
		{Kind: KindVault, Bound: "one", Removed: "never"},
		{Kind: KindOrganization, Bound: "the operator", Removed: "the operator"},
		{Kind: KindKey, Bound: "the operator", Removed: "never: a revoked key stays refused"},
		{Kind: KindOperatorKey, Bound: "the operator", Removed: "never: a revoked key stays refused"},
		{Kind: KindKeyUse, Bound: "one a key", Removed: "never"},
		{Kind: KindUtility, Bound: "the operator", Removed: "the operator"},
		{Kind: KindDemandResponse, Bound: "the operator", Removed: "the operator"},
		{Kind: KindArea, Bound: "the operator", Removed: "the operator"},
		{Kind: KindRatePlan, Bound: "the organization", Removed: "the organization", Outlived: true},
		{Kind: KindPlanEvent, Bound: "one record a rate plan", Removed: "with the plan", Outlived: true},
		{Kind: KindMarketSeries, Bound: "the organization", Removed: "the organization", Outlived: true},
		{Kind: KindMarketPrices, Bound: "731 days a series", Removed: "by newer prices, and with the series"},
		{Kind: KindHome, Bound: "the organization", Removed: "the organization"},
		{Kind: KindSolar, Bound: "one a home", Removed: "with the home", Outlived: true},
		{Kind: KindUsage, Bound: "one a home", Removed: "with the home", Outlived: true},
		{Kind: KindHomeMarket, Bound: "one a home", Removed: "with the home", Outlived: true},
		{Kind: KindHVACDevice, Bound: "the organization", Removed: "the organization"},
		{Kind: KindUserPreferences, Bound: "one a device", Removed: "the organization"},
		{Kind: KindOnboarding, Bound: "one a home", Removed: "with the home"},
		{Kind: KindWebhookEndpoint, Bound: "max-endpoints", Removed: "the organization"},
		{Kind: KindSchedule, Bound: "the organization", Removed: "the organization"},
		{Kind: KindReplay, Bound: "the rate limit of the key", Removed: "7 days after it is completed"},
		{Kind: KindOpenADRProgram, Bound: "openadr-max-objects", Removed: "the client"},
		{Kind: KindOpenADREvent, Bound: "openadr-max-objects", Removed: "the client"},
		{Kind: KindOpenADRReport, Bound: "openadr-max-objects", Removed: "after openadr-report-retention"},
		{Kind: KindOpenADRSubscription, Bound: "openadr-max-objects", Removed: "the client"},
		{Kind: KindOpenADRVEN, Bound: "openadr-max-objects", Removed: "the client"},
		{Kind: KindOpenADRResource, Bound: "openadr-max-objects", Removed: "the client"},
	}
}

var retentions = Retentions()

// RetentionOf returns the retention of a kind. An unknown kind has the strictest
// retention.
func RetentionOf(kind Kind) Retention {
	i := slices.IndexFunc(retentions, func(r Retention) bool { return r.Kind == kind })
	if i < 0 {
		return Retention{Kind: kind, Outlived: true}
	}
	return retentions[i]
}
