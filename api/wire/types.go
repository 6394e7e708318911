package wire

import (
	"reflect"
	"strings"

	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// NewTypes returns a new description of the interface's types.
func NewTypes() *schema.Types {
	return &schema.Types{
		Names: names, Enums: enums,
		Unions: map[reflect.Type][]reflect.Type{
			reflect.TypeFor[BatchData](): {reflect.TypeFor[SignalData](), reflect.TypeFor[OpenADRSignalData](), reflect.TypeFor[ThinData]()},
		},
	}
}

// names has the components whose names differ from their types.
var names = map[reflect.Type]string{
	reflect.TypeFor[catalog.Summary]():                "CatalogPlan",
	reflect.TypeFor[Page[catalog.Summary]]():          "CatalogPlanPage",
	reflect.TypeFor[savings.Result]():                 "SavingsEstimate",
	reflect.TypeFor[savings.Start]():                  "SavingsStart",
	reflect.TypeFor[savings.Month]():                  "SavingsMonth",
	reflect.TypeFor[savings.Assumptions]():            "SavingsAssumptions",
	reflect.TypeFor[savings.Uncertainty]():            "SavingsUncertainty",
	reflect.TypeFor[savings.DeviceResult]():           "SavingsDevice",
	reflect.TypeFor[Eligibility]():                    "EligibilityResult",
	reflect.TypeFor[pricing.Regime]():                 "NetMeteringRegime",
	reflect.TypeFor[bill.Month]():                     "BillMonth",
	reflect.TypeFor[storage.MeasuredMonth]():          "MeasuredMonth",
	reflect.TypeFor[savings.Gas]():                    "SavingsGas",
	reflect.TypeFor[savings.Equipment]():              "HVACEquipment",
	reflect.TypeFor[pricing.Part]():                   "PricePart",
	reflect.TypeFor[feed.Parameter]():                 "SourceParameter",
	reflect.TypeFor[events.Progress]():                "TriggerProgress",
	reflect.TypeFor[storage.Onboarding]():             "OnboardingFlow",
	reflect.TypeFor[storage.UserPreferences]():        "HVACUserPreferences",
	reflect.TypeFor[Event[SignalData]]():              "SignalEvent",
	reflect.TypeFor[Event[OpenADRSignalData]]():       "OpenADRSignalEvent",
	reflect.TypeFor[Event[ThinData]]():                "ThinEvent",
	reflect.TypeFor[Event[[]BatchItem]]():             "BatchEvent",
	reflect.TypeFor[Event[events.Progress]]():         "CompletedEvent",
	reflect.TypeFor[Event[events.DisabledEndpoint]](): "DisabledEvent",
	reflect.TypeFor[Event[events.FlexAlert]]():        "FlexAlertEvent",
	reflect.TypeFor[Event[TestData]]():                "TestEvent",
}

// enums lists the values of string types.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[storage.Scope]():                 Texts(storage.Scopes()),
	reflect.TypeFor[storage.ChannelKind]():           Texts(storage.ChannelKinds()),
	reflect.TypeFor[storage.Role]():                  Texts(storage.Roles()),
	reflect.TypeFor[storage.Change]():                {string(storage.Created), string(storage.Updated), string(storage.Unchanged)},
	reflect.TypeFor[storage.DeliveryMode]():          {"always", "onChange"},
	reflect.TypeFor[storage.SignalFormat]():          Texts(storage.SignalFormats()),
	reflect.TypeFor[storage.Compression]():           Texts(storage.Compressions()),
	reflect.TypeFor[storage.HTTPVersion]():           Texts(storage.HTTPVersions()),
	reflect.TypeFor[netbilling.Segment]():            Texts(netbilling.Segments()),
	reflect.TypeFor[storage.AuthenticationType]():    Texts(storage.AuthenticationTypes()),
	reflect.TypeFor[pricing.EventKind]():             {"CRITICAL_PEAK", "PEAK_REBATE", "FLEX_ALERT"},
	reflect.TypeFor[pricing.PartKind]():              Texts(pricing.PartKinds()),
	reflect.TypeFor[pricing.PlanRole]():              Texts(pricing.PlanRoles()),
	reflect.TypeFor[market.Kind]():                   {"DAY_AHEAD", "REAL_TIME", "EMISSIONS"},
	reflect.TypeFor[storage.Signature]():             {"hmac", "ed25519"},
	reflect.TypeFor[storage.CarbonSignalIntensity](): {"LOW", "MEDIUM", "HIGH"},
	reflect.TypeFor[storage.OnboardingStatus]():      {"NOT_STARTED", "IN_PROGRESS", "COMPLETED", "ERROR"},
	reflect.TypeFor[storage.EligibilityStatus]():     {"eligible", "notEligible"},
	reflect.TypeFor[storage.FeedbackType]():          {"question", "docs_issue", "source_of_truth_disagreement", "blocked_build", "bug", "feature_request", "integration_request", "suggestion", "other"},
	reflect.TypeFor[storage.Environment]():           {"production", "sandbox", "local", "other"},
	reflect.TypeFor[storage.SubmitterKind]():         {"human", "agent", "service"},
	reflect.TypeFor[storage.ContactMethod]():         {"email", "none"},
	reflect.TypeFor[events.Outcome]():                Texts(events.Outcomes()),
	reflect.TypeFor[storage.DisabledReason]():        Texts(storage.DisabledReasons()),
	reflect.TypeFor[storage.SourceOutcome]():         {"STORED", "UNCHANGED", "FAILED"},
	reflect.TypeFor[storage.ReplayStatus]():          Texts(storage.ReplayStatuses()),
	reflect.TypeFor[events.HealthState]():            {"UNKNOWN", "HEALTHY", "FAILING"},
	reflect.TypeFor[events.BreakerState]():           {"CLOSED", "OPEN", "HALF_OPEN"},
	reflect.TypeFor[events.ErrorClass]():             Texts(events.ErrorClasses()),
	reflect.TypeFor[BodySource]():                    Texts([]BodySource{BodyStored, BodyRebuilt, BodyChanged}),
	reflect.TypeFor[events.TriggerStatus]():          {"ACCEPTED", "RUNNING", "COMPLETED"},
	reflect.TypeFor[pricing.CompensationType]():      {"NET_METERING", "NET_BILLING", "FEED_IN", "WHOLESALE", "NONE"},
	reflect.TypeFor[bill.Metering]():                 Texts(bill.Meterings()),
	reflect.TypeFor[bill.TierRule]():                 Texts(bill.TierRules()),
	reflect.TypeFor[bill.Rollover]():                 Texts(bill.Rollovers()),
	reflect.TypeFor[savings.Units]():                 {"F", "C"},
	reflect.TypeFor[savings.Type]():                  {"monthly", "annual"},
	reflect.TypeFor[savings.Comparison]():            {"shift", "setback"},
	reflect.TypeFor[savings.HeatSource]():            {"HEAT_PUMP", "RESISTANCE", "GAS_FURNACE"},
	reflect.TypeFor[savings.Mode]():                  {"OFF", "HEAT", "COOL", "AUTO"},
}

// Enums returns the values of each enumeration by the name of its type. EventType and
// Replayable have the values of fields of type string.
func Enums() map[string][]string {
	all := map[string][]string{
		"EventType":  itemsOf(reflect.TypeFor[EndpointSettings](), "EventTypes"),
		"Replayable": itemsOf(reflect.TypeFor[ReplayInput](), "Outcomes"),
	}
	for t, values := range enums {
		name := t.Name()
		if t.PkgPath() == reflect.TypeFor[savings.Type]().PkgPath() {
			name = "Savings" + name // storage has a Mode too
		}
		all[name] = values
	}
	return all
}

// itemsOf returns the allowed values of a field's elements, as in its tag.
func itemsOf(t reflect.Type, field string) []string {
	f, _ := t.FieldByName(field)
	return strings.Split(f.Tag.Get("itemsEnum"), ",")
}

// Texts converts values of a string type to strings.
func Texts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
