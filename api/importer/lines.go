package importer

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// importLine is a line of an import, decoded over the defaults of its resource.
type importLine interface {
	// prepare builds the entity and checks its references. The entity's own fields are
	// checked elsewhere.
	prepare(im *importer, v storage.View, l *pending, p *rest.FieldErrors) (storage.Entity, error)
}

// resourceLine is a kind of lines. line returns an empty line.
type resourceLine struct {
	kind storage.Kind
	line func(o Operations) importLine
}

// resources lists the kinds of lines in the order of the documentation.
var resources = []resourceLine{
	{storage.KindOrganization, func(Operations) importLine { return &organizationLine{} }},
	{storage.KindUtility, func(Operations) importLine { return &utilityLine{Utility: storage.NewUtility()} }},
	{storage.KindDemandResponse, func(Operations) importLine { return &demandResponseLine{DemandResponse: storage.NewDemandResponse()} }},
	{storage.KindArea, func(Operations) importLine { return &areaLine{Area: storage.NewArea()} }},
	{storage.KindRatePlan, func(Operations) importLine { return &ratePlanLine{} }},
	{storage.KindPlanEvent, func(Operations) importLine { return &planEventLine{} }},
	{storage.KindMarketSeries, func(Operations) importLine { return &marketSeriesLine{} }},
	{storage.KindHome, func(Operations) importLine { return &homeLine{Home: storage.NewHome("")} }},
	{storage.KindSolar, func(Operations) importLine { return &solarLine{} }},
	{storage.KindUsage, func(Operations) importLine { return &usageLine{} }},
	{storage.KindHomeMarket, func(Operations) importLine { return &homeMarketLine{} }},
	{storage.KindHVACDevice, func(Operations) importLine { return &hvacDeviceLine{HVACDevice: storage.NewHVACDevice("")} }},
	{storage.KindUserPreferences, func(Operations) importLine {
		return &userPreferencesLine{UserPreferences: storage.NewUserPreferences("", "")}
	}},
	{storage.KindOnboarding, func(Operations) importLine {
		return &onboardingLine{Onboarding: storage.Onboarding{Status: storage.OnboardingNotStarted, EligibilityStatus: storage.NotEligible}}
	}},
	{storage.KindWebhookEndpoint, func(o Operations) importLine { return &webhookEndpointLine{EndpointSettings: o.NewSettings()} }},
}

// newLine returns an empty line of a resource, or nil for an unknown resource.
func newLine(o Operations, resource string) importLine {
	for _, r := range resources {
		if string(r.kind) == resource {
			return r.line(o)
		}
	}
	return nil
}

// resourceNames lists the resources for an error message.
func resourceNames() string {
	kinds := make([]storage.Kind, len(resources))
	for i, r := range resources {
		kinds[i] = r.kind
	}
	return rest.OneOf(kinds)
}

// LineTypes returns the types of the lines in the order of the resources.
func LineTypes(o Operations) []reflect.Type {
	types := make([]reflect.Type, len(resources))
	for i, r := range resources {
		types[i] = reflect.TypeOf(r.line(o)).Elem()
	}
	return types
}

// lineHead has the common fields of lines with an organization.
type lineHead struct {
	Resource       string `json:"resource" doc:"What the line is."`
	OrganizationID string `json:"organizationId" pattern:"id" doc:"The organization that the resource belongs to. A rate plan without one is shared by all."`
}

// owner adds a field error if the line's organization does not exist.
func (h *lineHead) owner(v storage.View, p *rest.FieldErrors) error {
	if !storage.ValidID(h.OrganizationID) {
		p.Addf("organizationId", rest.BadID)
		return nil
	}
	return refersTo(v, storage.OrganizationRef(h.OrganizationID), "organizationId", p)
}

// ofHome sets the organization of a home's entity. It adds a field error if the
// organization or the home does not exist.
func (h *lineHead) ofHome(v storage.View, b *storage.Base, homeID string, p *rest.FieldErrors) error {
	b.OrganizationID = h.OrganizationID
	if err := h.owner(v, p); err != nil {
		return err
	}
	return refersTo(v, storage.HomeRef(h.OrganizationID, homeID), "homeId", p)
}

// refersTo adds a field error if the entity does not exist. The entity's own check
// reports an invalid identifier.
func refersTo(v storage.View, ref storage.Ref, field string, p *rest.FieldErrors) error {
	if !ref.Valid() {
		return nil
	}
	r, err := v.Get(ref)
	if errors.Is(err, storage.ErrNotFound) || err == nil && r.Deleted {
		p.Addf(field, "there is no %s %q", ref.Kind, ref.ID)
		return nil
	}
	return err
}

type organizationLine struct {
	_ struct{} `required:"resource,id,name"`

	lineHead
	storage.Organization
}

// prepare uses organizationId as a missing id, because organizationId names the
// organization on every other line.
func (l *organizationLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	named := l.OrganizationID
	if l.ID == "" {
		l.ID = named
	}
	p.Check(named == "" || named == l.ID, "organizationId", "must be left out, or be the same as id")
	l.Base.OrganizationID = storage.Shared
	var err error
	l.Suspended, err = storage.IsSuspended(v, l.ID) // only an update changes it
	return &l.Organization, err
}

type ratePlanLine struct {
	_ struct{} `required:"resource"`

	lineHead
	storage.RatePlan
	wire.CatalogChoice
}

func (l *ratePlanLine) prepare(im *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	im.ChooseTariff(&l.CatalogChoice, &l.RatePlan, p)
	if l.OrganizationID == "" {
		l.Base.OrganizationID = storage.Shared
		return &l.RatePlan, nil
	}
	l.Base.OrganizationID = l.OrganizationID
	return &l.RatePlan, l.owner(v, p)
}

type homeLine struct {
	_ struct{} `required:"resource,organizationId,id"`

	lineHead
	storage.Home
}

// prepare does not require the rate plan to exist. The plan may be imported later. Until
// then, requests report that the home cannot be priced.
func (l *homeLine) prepare(im *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	if err := im.placeHome(v, &l.Home); err != nil {
		return nil, err
	}
	return &l.Home, l.owner(v, p)
}

type solarLine struct {
	_ struct{} `required:"resource,organizationId,homeId,solarSystemSizeKw"`

	lineHead
	storage.Solar
}

func (l *solarLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	return &l.Solar, l.ofHome(v, &l.Base, l.HomeID, p)
}

type hvacDeviceLine struct {
	_ struct{} `required:"resource,organizationId,deviceId,homeId"`

	lineHead
	storage.HVACDevice
}

// prepare keeps the stored results of optimization runs unless the line sets them.
// Importing the same line again therefore changes nothing.
func (l *hvacDeviceLine) prepare(im *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	if err := l.ofHome(v, &l.Base, l.HomeID, p); err != nil {
		return nil, err
	}
	p.Check(objectOrNull(l.LastSetPointSchedule), "lastSetPointSchedule", "must be an object or null")
	p.Check(objectOrNull(l.LastOptimizationRunData), "lastOptimizationRunData", "must be an object or null")
	if ref := l.HVACDevice.Ref(); ref.Valid() {
		stored, _, err := storage.Read[storage.HVACDevice](v, ref)
		if err := rest.Ignore(err, storage.ErrNotFound); err != nil {
			return nil, err
		}
		l.Keep(&stored, storage.Time{Time: im.now})
	}
	return &l.HVACDevice, nil
}

// objectOrNull reports whether decoded JSON is absent, an object or null. The first byte
// of valid JSON determines its type.
func objectOrNull(raw json.RawMessage) bool {
	return len(raw) == 0 || raw[0] == '{' || raw[0] == 'n'
}

type userPreferencesLine struct {
	_ struct{} `required:"resource,organizationId,deviceId,name"`

	lineHead
	DeviceID string `json:"deviceId" pattern:"id"`
	storage.UserPreferences
}

func (l *userPreferencesLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	l.UserPreferences.DeviceID, l.Base.OrganizationID = l.DeviceID, l.OrganizationID
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	return &l.UserPreferences, refersTo(v, storage.HVACDeviceRef(l.OrganizationID, l.DeviceID), "deviceId", p)
}

type onboardingLine struct {
	_ struct{} `required:"resource,organizationId,homeId"`

	lineHead
	storage.Onboarding
}

// prepare uses the home's identifier for a flow without an identifier. A home has only
// one flow.
func (l *onboardingLine) prepare(_ *importer, v storage.View, _ *pending, p *rest.FieldErrors) (storage.Entity, error) {
	if l.ID == "" {
		l.ID = l.HomeID
	}
	return &l.Onboarding, l.ofHome(v, &l.Base, l.HomeID, p)
}
