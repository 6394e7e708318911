package openapi

import (
	"reflect"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// names are the schemas that are not named as their types.
var names = map[reflect.Type]string{
	reflect.TypeFor[savings.Result]():          "SavingsEstimate",
	reflect.TypeFor[savings.Month]():           "SavingsMonth",
	reflect.TypeFor[savings.Assumptions]():     "SavingsAssumptions",
	reflect.TypeFor[savings.Uncertainty]():     "SavingsUncertainty",
	reflect.TypeFor[savings.DeviceResult]():    "SavingsDevice",
	reflect.TypeFor[eligibility.Result]():      "EligibilityResult",
	reflect.TypeFor[events.Progress]():         "TriggerProgress",
	reflect.TypeFor[storage.Onboarding]():      "OnboardingFlow",
	reflect.TypeFor[storage.UserPreferences](): "HVACUserPreferences",
}

// enums are the types of which a value is one of a list.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[storage.Scope]():                 texts(storage.Scopes()),
	reflect.TypeFor[storage.DeliveryMode]():          {"always", "onChange"},
	reflect.TypeFor[storage.SignalFormat]():          texts(storage.SignalFormats()),
	reflect.TypeFor[storage.Compression]():           texts(storage.Compressions()),
	reflect.TypeFor[storage.AuthenticationType]():    texts(storage.AuthenticationTypes()),
	reflect.TypeFor[pricing.EventKind]():             {"CRITICAL_PEAK", "PEAK_REBATE"},
	reflect.TypeFor[pricing.PartKind]():              texts(pricing.PartKinds()),
	reflect.TypeFor[market.Kind]():                   {"DAY_AHEAD", "REAL_TIME"},
	reflect.TypeFor[storage.Signature]():             {"hmac", "ed25519"},
	reflect.TypeFor[storage.CarbonSignalIntensity](): {"LOW", "MEDIUM", "HIGH"},
	reflect.TypeFor[storage.TempUnits]():             {"F", "C"},
	reflect.TypeFor[storage.Mode]():                  {"OFF", "HEAT", "COOL", "AUTO"},
	reflect.TypeFor[storage.OnboardingStatus]():      {"NOT_STARTED", "IN_PROGRESS", "COMPLETED", "ERROR"},
	reflect.TypeFor[storage.EligibilityStatus]():     {"eligible", "notEligible"},
	reflect.TypeFor[storage.FeedbackType]():          texts(storage.FeedbackTypes()),
	reflect.TypeFor[storage.Environment]():           texts(storage.Environments()),
	reflect.TypeFor[storage.SubmitterKind]():         texts(storage.SubmitterKinds()),
	reflect.TypeFor[storage.ContactMethod]():         texts(storage.ContactMethods()),
	reflect.TypeFor[events.Outcome]():                texts(events.Outcomes()),
	reflect.TypeFor[storage.DisabledReason]():        texts(storage.DisabledReasons()),
	reflect.TypeFor[storage.ReplayStatus]():          texts(storage.ReplayStatuses()),
	reflect.TypeFor[events.HealthState]():            texts(events.HealthStates()),
	reflect.TypeFor[events.BreakerState]():           texts(events.BreakerStates()),
	reflect.TypeFor[events.ErrorClass]():             texts(events.ErrorClasses()),
	reflect.TypeFor[events.TriggerStatus]():          {"ACCEPTED", "RUNNING", "COMPLETED"},
	reflect.TypeFor[pricing.CompensationType]():      {"NET_METERING", "NET_BILLING", "FEED_IN", "WHOLESALE", "NONE"},
	reflect.TypeFor[savings.Type]():                  {"monthly", "annual"},
	reflect.TypeFor[savings.Mode]():                  {"OFF", "HEAT", "COOL", "AUTO"},
}

func texts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// required are the fields that a body must have, by its type.
var required = map[string][]string{
	"createEndpointInput":     {"url"},
	"replayInput":             {"since"},
	"solarInput":              {"homeId", "solarSystemSizeKw"},
	"linkedInput":             {"linked"},
	"savingsInput":            {"type"},
	"zipcodeInput":            {"zipcode"},
	"ofHome":                  {"homeId"},
	"startOnboardingInput":    {"homeId"},
	"completeStepInput":       {"homeId"},
	"feedbackInput":           {"feedback_type", "summary", "message"},
	"createOrganizationInput": {"name"},
	"ofOrganization":          {"organizationId"},
	"organizationPageInput":   {"organizationId"},
	"listHomesInput":          {"organizationId"},
	"createKeyInput":          {"organizationId"},
	"createHomeInput":         {"organizationId"},
	"importPlanInput":         {"id"},
	"ofPlan":                  {"planId"},
	"createPlanEventInput":    {"planId", "kind", "from", "to"},
	"planEventLine":           {"resource", "planId", "kind", "from", "to"},
	"marketSeriesLine":        {"resource", "node", "market", "startTime", "prices"},
	"usageLine":               {"resource", "organizationId", "homeId"},
	"homeMarketLine":          {"resource", "organizationId", "homeId", "node", "market"},
	"organizationLine":        {"resource", "id", "name"},
	"utilityLine":             {"resource", "eiaId", "name"},
	"demandResponseLine":      {"resource", "eiaId"},
	"areaLine":                {"resource", "area"},
	"ratePlanLine":            {"resource"},
	"homeLine":                {"resource", "organizationId", "id"},
	"solarLine":               {"resource", "organizationId", "homeId", "solarSystemSizeKw"},
	"hvacDeviceLine":          {"resource", "organizationId", "deviceId", "homeId"},
	"userPreferencesLine":     {"resource", "organizationId", "deviceId", "name"},
	"onboardingLine":          {"resource", "organizationId", "homeId"},
	"webhookEndpointLine":     {"resource", "organizationId", "id", "url"},
	"Authentication":          {"type"},
	"ClientCertificate":       {"certificate"},
	"ScheduleBlock":           {"endTimeMinutes", "mode", "daysOfWeek", "scheduleType"},
}

// rule is what is true of a field beyond its type.
type rule struct {
	schema, items Object
	// null marks a field that may be null although its type does not say so.
	null     bool
	readOnly bool
}

func text(least, most int) rule {
	o := Object{}
	if least > 0 {
		o = o.With("minLength", least)
	}
	return rule{schema: o.With("maxLength", most)}
}

func pattern(p string) rule { return rule{schema: Object{{"pattern", p}}} }

func format(f string) rule { return rule{schema: Object{{"format", f}}} }

func between(least, most float64) rule {
	return rule{schema: Object{{"minimum", least}, {"maximum", most}}}
}

func atLeast(least int) rule { return rule{schema: Object{{"minimum", least}}} }

func within(above, below float64) rule {
	return rule{schema: Object{{"exclusiveMinimum", above}, {"exclusiveMaximum", below}}}
}

// The rules that many fields have.
var (
	id       = pattern("^[A-Za-z0-9_-]{1,128}$")
	cursor   = pattern("^[A-Za-z0-9_-]{0,128}$")
	page     = between(1, 1000)
	zipcode  = pattern(`^(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?$`)
	degrees  = within(-50, 200)
	secret   = pattern("^whsec_[A-Za-z0-9+/]+={0,2}$")
	null     = rule{null: true}
	readOnly = rule{readOnly: true}
)

// rules are what is true of fields beyond their types. The API's tests hold every
// one of them against what the API takes.
var rules = map[string]rule{
	"storage.Base.createdAt": readOnly, "storage.Base.updatedAt": readOnly,

	"api.triggerInput.organizationId":    id,
	"api.listTriggersInput.limit":        page,
	"api.pageInput.limit":                page,
	"api.pageInput.after":                cursor,
	"api.listDeliveriesInput.triggerId":  id,
	"api.listDeliveriesInput.limit":      page,
	"api.listDeliveriesInput.after":      pattern(`^([A-Za-z0-9_-]{1,128}\.[0-9]{1,9}\.[0-9]{1,9})?$`),
	"api.listDeliveriesInput.homeId":     id,
	"api.triggerInput.ratePlanIds":       {schema: Object{{"maxItems", 100}}, items: id.schema},
	"api.listDeliveriesInput.endpointId": id,

	"api.EndpointSettings.url":            {schema: Object{{"format", "uri"}, {"maxLength", 2048}}},
	"api.EndpointSettings.description":    text(0, 500),
	"api.EndpointSettings.eventTypes":     {items: Object{{"enum", storage.EventTypes()}}},
	"api.EndpointSettings.headers":        {schema: Object{{"additionalProperties", Object{{"type", "string"}, {"maxLength", 1024}}}, {"maxProperties", 20}}},
	"api.EndpointSettings.rateLimit":      between(0, 1e6),
	"api.EndpointSettings.batchSize":      between(0, storage.MaxBatchSize),
	"api.EndpointSettings.timeoutSeconds": between(0.1, 60),
	"api.Authentication.token":            text(0, 4096),
	"api.Authentication.tokenUrl":         {schema: Object{{"format", "uri"}, {"maxLength", 2048}}},
	"api.Authentication.clientId":         text(0, 255),
	"api.Authentication.clientSecret":     text(0, 4096),
	"api.Authentication.scopes":           {schema: Object{{"maxItems", 20}}, items: Object{{"minLength", 1}, {"maxLength", 128}}},
	"api.Authentication.audience":         text(0, 512),
	"api.ClientCertificate.certificate":   text(0, storage.MaxPEM),
	"api.ClientCertificate.privateKey":    text(0, storage.MaxPEM),
	"api.ClientCertificate.expiresAt":     readOnly,
	"storage.RetryPolicy.initialSeconds":  between(1, 3600),
	"storage.RetryPolicy.multiplier":      between(1, 10),
	"storage.RetryPolicy.maxSeconds":      between(1, 86400),
	"storage.RetryPolicy.giveUpSeconds":   between(0, 86400),

	"storage.RetryPolicy.disableAfterSeconds": between(0, 30*86400),

	"api.SecretChoice.secret":        secret,
	"api.rotateSecretInput.secret":   secret,
	"api.webhookEndpointLine.secret": secret,
	"api.webhookEndpointLine.id":     id,

	"api.ScheduleSettings.description":     text(0, 500),
	"api.ScheduleSettings.everyMinutes":    between(1, 1440),
	"api.ScheduleSettings.cron":            pattern(`^\s*\S+(\s+\S+){4}\s*$`),
	"storage.ScheduleWindow.offsetMinutes": between(0, 31*24*60-1),
	"storage.ScheduleWindow.lengthMinutes": between(15, 31*24*60),
	"api.Schedule.nextRunAt":               null,
	"api.replayInput.outcomes":             {schema: Object{{"minItems", 1}}, items: Object{{"enum", []string{"FAILED", "EXPIRED"}}}},
	"api.Replay.completedAt":               null,
	"events.Health.lastSuccessAt":          null,
	"events.Health.lastFailureAt":          null,
	"events.Health.failingSince":           null,
	"events.Breaker.since":                 null,
	"events.Breaker.nextProbeAt":           null,
	"api.Schedule.lastRunAt":               null,

	"api.solarInput.homeId":            id,
	"api.solarInput.solarSystemSizeKw": {schema: Object{{"exclusiveMinimum", 0}, {"maximum", 1000}}},
	"storage.Solar.homeId":             id,
	"storage.Solar.solarSystemSizeKw":  {schema: Object{{"exclusiveMinimum", 0}, {"maximum", 1000}}},

	"storage.SolarSettings.tilt":    between(0, 90),
	"storage.SolarSettings.azimuth": between(0, 360),
	"storage.SolarSettings.losses":  between(0, 99),

	"api.ofPlan.planId":               id,
	"api.planEventLine.planId":        id,
	"storage.PlanEvent.id":            id,
	"storage.PlanEvent.name":          text(0, 255),
	"storage.PlanEvent.adder":         between(-50, 50),
	"storage.PlanEvent.price":         between(-50, 50),
	"api.listCatalogInput.utility":    text(0, 255),
	"api.listCatalogInput.search":     text(0, 255),
	"api.marketSeriesLine.node":       text(1, 64),
	"api.marketSeriesLine.prices":     {schema: Object{{"minItems", 1}}, items: Object{{"minimum", -50}, {"maximum", 50}}},
	"storage.HomeMarket.homeId":       id,
	"storage.HomeMarket.node":         text(1, 64),
	"storage.Usage.homeId":            id,
	"storage.Usage.monthToDateKwh":    between(0, 1e6),
	"storage.Usage.asOf":              format("date"),
	"storage.Usage.assumedMonthlyKwh": between(0, 1e6),
	"storage.Usage.billingDay":        between(0, 28),
	"storage.Usage.baselineDailyKwh":  between(0, 1e6),

	"api.savingsInput.targetTemp":         degrees,
	"api.savingsInput.targetCoolSetpoint": degrees,
	"api.savingsInput.targetHeatSetpoint": degrees,
	"api.savingsInput.minTemp":            degrees,
	"api.savingsInput.maxTemp":            degrees,
	"api.savingsInput.days":               between(1, 366),
	"api.savingsInput.months":             {items: Object{{"minimum", 1}, {"maximum", 12}}},
	"api.savingsStart.month":              between(1, 12),
	"api.savingsStart.date":               format("date"),

	"api.zipcodeInput.zipcode":                     zipcode,
	"api.ofHome.homeId":                            id,
	"api.startOnboardingInput.zipcode":             zipcode,
	"api.startOnboardingInput.thermostatBrandCode": text(0, 255),
	"api.completeStepInput.step":                   between(0, 1000),

	"storage.FeedbackForm.name":               text(0, 255),
	"storage.FeedbackForm.company":            text(0, 255),
	"storage.FeedbackForm.summary":            text(1, 255),
	"storage.FeedbackForm.message":            text(1, 4000),
	"storage.FeedbackForm.page":               text(0, 2048),
	"storage.FeedbackForm.endpoint":           text(0, 500),
	"storage.FeedbackForm.steps_to_reproduce": text(0, 4000),
	"storage.FeedbackForm.expected_behavior":  text(0, 4000),
	"storage.FeedbackForm.actual_behavior":    text(0, 4000),
	"storage.FeedbackForm.source_of_truth":    text(0, 4000),
	"storage.FeedbackForm.suggested_change":   text(0, 4000),
	"storage.FeedbackForm.related_urls":       {schema: Object{{"maxItems", 10}}, items: Object{{"format", "uri"}, {"maxLength", 2048}}},
	"storage.Submitter.agent":                 text(0, 128),
	"storage.Submitter.client":                text(0, 128),
	"storage.Contact.email":                   {schema: Object{{"format", "email"}, {"maxLength", 255}}},

	"api.createOrganizationInput.id":                   id,
	"api.createOrganizationInput.name":                 text(1, 255),
	"api.createOrganizationInput.childOrganizationIds": {items: id.schema},
	"storage.Organization.id":                          id,
	"storage.Organization.name":                        text(1, 255),
	"storage.Organization.childOrganizationIds":        {items: id.schema},
	"api.ofOrganization.organizationId":                id,
	"api.createKeyInput.description":                   text(0, 255),
	"api.createKeyInput.scopes":                        {schema: Object{{"minItems", 1}}},
	"api.rotateKeyInput.overlapSeconds":                between(0, 30*24*60*60),
	"api.Key.expiresAt":                                null,
	"api.Key.revokedAt":                                null,
	"api.Key.lastUsedAt":                               null,

	"api.OwnedHome.organizationId":     id,
	"storage.Home.id":                  id,
	"storage.Home.name":                text(0, 255),
	"storage.Home.userId":              text(0, 255),
	"storage.Home.UtilityId":           text(0, 255),
	"storage.Home.country":             text(0, 64),
	"storage.Home.city":                text(0, 255),
	"storage.Home.streetAddress":       text(0, 255),
	"storage.Home.unstructuredAddress": text(0, 500),
	"storage.Home.meterId":             text(0, 500),
	"storage.Home.meterIdSource":       text(0, 500),
	"storage.Home.channelPartnerId":    text(0, 500),

	"api.importPlanInput.id":      id,
	"api.importPlanInput.name":    text(0, 500),
	"api.importPlanInput.utility": text(0, 255),
	"storage.RatePlan.id":         id,
	"storage.RatePlan.name":       text(0, 500),
	"storage.RatePlan.utility":    text(0, 255),

	"storage.Utility.eiaId":                   atLeast(1),
	"storage.Utility.name":                    text(1, 255),
	"storage.Utility.ownership":               text(0, 255),
	"storage.Utility.dynamicPricing":          {schema: Object{{"maxItems", 100}}, items: Object{{"minLength", 1}, {"maxLength", 255}}},
	"storage.Utility.demandResponseCustomers": atLeast(0),
	"storage.Utility.netMeteringCustomers":    atLeast(0),
	"storage.Utility.programs":                {schema: Object{{"maxItems", 100}}, items: Object{{"minLength", 1}, {"maxLength", 255}}},
	"storage.DemandResponse.eiaId":            atLeast(1),
	"storage.DemandResponse.programs":         {schema: Object{{"maxItems", 100}}, items: Object{{"minLength", 1}, {"maxLength", 255}}},
	"storage.Area.area":                       pattern("^(?:[0-9]{5}|[0-9]{3}|[A-Z]{2})$"),
	"storage.Area.reason":                     text(0, 500),
	"storage.Area.utilities":                  {schema: Object{{"maxItems", 100}}, items: Object{{"minimum", 1}}},
	"storage.Area.market":                     text(0, 64),
	"storage.Area.state":                      pattern("^(?:[A-Z]{2})?$"),

	"api.lineHead.organizationId":                     id,
	"api.userPreferencesLine.deviceId":                id,
	"storage.HVACDevice.deviceId":                     id,
	"storage.HVACDevice.homeId":                       id,
	"storage.SystemDetails.name":                      text(0, 255),
	"storage.HVACDevice.targetCoolSetpoint":           degrees,
	"storage.HVACDevice.targetHeatSetpoint":           degrees,
	"storage.HVACDevice.maxTemp":                      degrees,
	"storage.HVACDevice.minTemp":                      degrees,
	"storage.HVACDevice.currentTemp":                  degrees,
	"storage.HVACDevice.thermodynamicValuesUpdatedAt": null,
	"storage.HVACDevice.lastSetPointSchedule":         null,
	"storage.HVACDevice.lastOptimizationRunData":      null,

	"storage.UserPreferences.name":                text(1, 255),
	"storage.UserPreferences.weeks":               {items: Object{{"minimum", 0}, {"maximum", 51}}},
	"storage.UserPreferences.defaultMaxTemp":      degrees,
	"storage.UserPreferences.defaultMinTemp":      degrees,
	"storage.UserPreferences.defaultCoolSetpoint": degrees,
	"storage.UserPreferences.defaultHeatSetpoint": degrees,
	"storage.ScheduleBlock.startTimeMinutes":      between(0, 1439),
	"storage.ScheduleBlock.endTimeMinutes":        between(1, 1440),
	"storage.ScheduleBlock.targetCoolSetpoint":    degrees,
	"storage.ScheduleBlock.targetHeatSetpoint":    degrees,
	"storage.ScheduleBlock.maxTemp":               degrees,
	"storage.ScheduleBlock.minTemp":               degrees,
	"storage.ScheduleBlock.daysOfWeek":            {schema: Object{{"minItems", 1}}, items: Object{{"minimum", 0}, {"maximum", 6}}},
	"storage.ScheduleBlock.scheduleType":          {schema: Object{{"enum", []string{storage.Recurring}}}},
	"storage.Onboarding.homeId":                   id,
	"storage.Onboarding.step":                     atLeast(0),

	"events.Progress.completedAt": null,
}
