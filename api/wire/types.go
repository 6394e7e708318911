package wire

import (
	"reflect"
	"strings"

	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// NewTypes returns a new description of the interface's types.
func NewTypes() *schema.Types {
	return &schema.Types{Names: names, Enums: enums, Formats: map[reflect.Type]string{reflect.TypeFor[pricing.Date](): "date"}}
}

// names has the components whose names differ from their types.
var names = map[reflect.Type]string{
	reflect.TypeFor[catalog.Summary]():         "CatalogPlan",
	reflect.TypeFor[Page[catalog.Summary]]():   "CatalogPlanPage",
	reflect.TypeFor[savings.Result]():          "SavingsEstimate",
	reflect.TypeFor[savings.Start]():           "SavingsStart",
	reflect.TypeFor[savings.Month]():           "SavingsMonth",
	reflect.TypeFor[savings.Assumptions]():     "SavingsAssumptions",
	reflect.TypeFor[savings.Uncertainty]():     "SavingsUncertainty",
	reflect.TypeFor[savings.DeviceResult]():    "SavingsDevice",
	reflect.TypeFor[Eligibility]():             "EligibilityResult",
	reflect.TypeFor[pricing.Regime]():          "NetMeteringRegime",
	reflect.TypeFor[bill.Month]():              "BillMonth",
	reflect.TypeFor[savings.Gas]():             "SavingsGas",
	reflect.TypeFor[savings.Equipment]():       "HVACEquipment",
	reflect.TypeFor[pricing.Part]():            "PricePart",
	reflect.TypeFor[events.Progress]():         "TriggerProgress",
	reflect.TypeFor[storage.Onboarding]():      "OnboardingFlow",
	reflect.TypeFor[storage.UserPreferences](): "HVACUserPreferences",
}

// enums lists the values of string types.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[storage.Scope]():                 texts(storage.Scopes()),
	reflect.TypeFor[storage.ChannelKind]():           texts(storage.ChannelKinds()),
	reflect.TypeFor[storage.Role]():                  texts(storage.Roles()),
	reflect.TypeFor[storage.Change]():                {string(storage.Created), string(storage.Updated), string(storage.Unchanged)},
	reflect.TypeFor[storage.DeliveryMode]():          {"always", "onChange"},
	reflect.TypeFor[storage.SignalFormat]():          texts(storage.SignalFormats()),
	reflect.TypeFor[storage.Compression]():           texts(storage.Compressions()),
	reflect.TypeFor[storage.HTTPVersion]():           texts(storage.HTTPVersions()),
	reflect.TypeFor[netbilling.Segment]():            texts(netbilling.Segments()),
	reflect.TypeFor[storage.AuthenticationType]():    texts(storage.AuthenticationTypes()),
	reflect.TypeFor[pricing.EventKind]():             {"CRITICAL_PEAK", "PEAK_REBATE", "FLEX_ALERT"},
	reflect.TypeFor[pricing.PartKind]():              texts(pricing.PartKinds()),
	reflect.TypeFor[pricing.PlanRole]():              texts(pricing.PlanRoles()),
	reflect.TypeFor[market.Kind]():                   {"DAY_AHEAD", "REAL_TIME", "EMISSIONS"},
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
	reflect.TypeFor[storage.SourceOutcome]():         texts(storage.SourceOutcomes()),
	reflect.TypeFor[storage.ReplayStatus]():          texts(storage.ReplayStatuses()),
	reflect.TypeFor[events.HealthState]():            texts(events.HealthStates()),
	reflect.TypeFor[events.BreakerState]():           texts(events.BreakerStates()),
	reflect.TypeFor[events.ErrorClass]():             texts(events.ErrorClasses()),
	reflect.TypeFor[BodySource]():                    texts(BodySources()),
	reflect.TypeFor[events.TriggerStatus]():          {"ACCEPTED", "RUNNING", "COMPLETED"},
	reflect.TypeFor[pricing.CompensationType]():      {"NET_METERING", "NET_BILLING", "FEED_IN", "WHOLESALE", "NONE"},
	reflect.TypeFor[bill.Metering]():                 texts(bill.Meterings()),
	reflect.TypeFor[bill.TierRule]():                 texts(bill.TierRules()),
	reflect.TypeFor[bill.Rollover]():                 texts(bill.Rollovers()),
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

func texts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
