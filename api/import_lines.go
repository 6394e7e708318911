package api

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/gridhook/gridhook/storage"
)

// importable are the resources that a line may name.
var importable = []storage.Kind{
	storage.KindOrganization, storage.KindUtility, storage.KindDemandResponse, storage.KindArea, storage.KindRatePlan,
	storage.KindPlanEvent, storage.KindMarketSeries, storage.KindHome, storage.KindSolar, storage.KindUsage, storage.KindHomeMarket, storage.KindHVACDevice,
	storage.KindUserPreferences, storage.KindOnboarding, storage.KindWebhookEndpoint,
}

// importLine is a line of an import, decoded onto the defaults of its resource.
type importLine interface {
	// prepare makes the entity and checks what it refers to. The entity's own
	// fields are checked elsewhere.
	prepare(im *importer, v storage.View, l *pending, p *problems) (storage.Entity, error)
}

// newLine is an empty line of a resource, nil when there is no such resource.
func newLine(resource string) importLine {
	switch storage.Kind(resource) {
	case storage.KindOrganization:
		return &organizationLine{}
	case storage.KindUtility:
		return &utilityLine{Utility: storage.NewUtility()}
	case storage.KindDemandResponse:
		return &demandResponseLine{DemandResponse: storage.NewDemandResponse()}
	case storage.KindArea:
		return &areaLine{Area: storage.NewArea()}
	case storage.KindRatePlan:
		return &ratePlanLine{}
	case storage.KindPlanEvent:
		return &planEventLine{}
	case storage.KindMarketSeries:
		return &marketSeriesLine{}
	case storage.KindUsage:
		return &usageLine{}
	case storage.KindHomeMarket:
		return &homeMarketLine{}
	case storage.KindHome:
		return &homeLine{Home: storage.NewHome("")}
	case storage.KindSolar:
		return &solarLine{}
	case storage.KindHVACDevice:
		return &hvacDeviceLine{HVACDevice: storage.NewHVACDevice("")}
	case storage.KindUserPreferences:
		return &userPreferencesLine{UserPreferences: storage.NewUserPreferences("", "")}
	case storage.KindOnboarding:
		return &onboardingLine{Onboarding: storage.Onboarding{
			Status: storage.OnboardingNotStarted, EligibilityStatus: storage.NotEligible,
		}}
	case storage.KindWebhookEndpoint:
		l := &webhookEndpointLine{}
		l.setDefaults()
		return l
	default:
		return nil
	}
}

// lineTypes are the types of the lines, in the order of importable.
func lineTypes() []reflect.Type {
	types := make([]reflect.Type, len(importable))
	for i, resource := range importable {
		types[i] = reflect.TypeOf(newLine(string(resource))).Elem()
	}
	return types
}

// lineHead is what every line has.
type lineHead struct {
	Resource       string `json:"resource"`
	OrganizationID string `json:"organizationId"`
}

// owner wants an organization that exists.
func (h *lineHead) owner(v storage.View, p *problems) error {
	if !storage.ValidID(h.OrganizationID) {
		p.Addf("organizationId", badID)
		return nil
	}
	return refersTo(v, storage.OrganizationRef(h.OrganizationID), "organizationId", p)
}

// refersTo wants an entity that exists. An identifier that is none is named as
// such by the entity's own check.
func refersTo(v storage.View, ref storage.Ref, field string, p *problems) error {
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
	lineHead
	storage.Organization
}

// prepare takes organizationId for the id where that is missing: on every other
// line it is what names the organization.
func (l *organizationLine) prepare(_ *importer, _ storage.View, _ *pending, p *problems) (storage.Entity, error) {
	named := l.OrganizationID
	if l.ID == "" {
		l.ID = named
	}
	p.Check(named == "" || named == l.ID, "organizationId", "must be left out, or be the same as id")
	l.Base.OrganizationID = storage.Shared
	return &l.Organization, nil
}

type ratePlanLine struct {
	lineHead
	storage.RatePlan
	catalogChoice
}

func (l *ratePlanLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.choose(&l.RatePlan, p)
	if l.OrganizationID == "" {
		l.Base.OrganizationID = storage.Shared
		return &l.RatePlan, nil
	}
	l.Base.OrganizationID = l.OrganizationID
	return &l.RatePlan, l.owner(v, p)
}

type homeLine struct {
	lineHead
	storage.Home
}

// prepare does not look for the rate plan: it may come later, and until then the
// home is unpriceable and says so.
func (l *homeLine) prepare(im *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	places, err := im.placesOf(v)
	if err != nil {
		return nil, err
	}
	place(&l.Home, places)
	return &l.Home, l.owner(v, p)
}

type solarLine struct {
	lineHead
	storage.Solar
}

func (l *solarLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	return &l.Solar, refersTo(v, storage.HomeRef(l.OrganizationID, l.HomeID), "homeId", p)
}

type hvacDeviceLine struct {
	lineHead
	storage.HVACDevice
}

// prepare keeps what runs left on a device, unless the line says otherwise: the
// same line again changes nothing.
func (l *hvacDeviceLine) prepare(im *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	p.Check(objectOrNull(l.LastSetPointSchedule), "lastSetPointSchedule", "must be an object or null")
	p.Check(objectOrNull(l.LastOptimizationRunData), "lastOptimizationRunData", "must be an object or null")
	if ref := l.HVACDevice.Ref(); ref.Valid() {
		stored, _, err := storage.Read[storage.HVACDevice](v, ref)
		if err := ignore(err, storage.ErrNotFound); err != nil {
			return nil, err
		}
		l.Keep(&stored, storage.Time{Time: im.call.now})
	}
	return &l.HVACDevice, refersTo(v, storage.HomeRef(l.OrganizationID, l.HomeID), "homeId", p)
}

// objectOrNull judges JSON that has been decoded, so one byte tells.
func objectOrNull(raw json.RawMessage) bool {
	return len(raw) == 0 || raw[0] == '{' || raw[0] == 'n'
}

type userPreferencesLine struct {
	lineHead
	DeviceID string `json:"deviceId"`
	storage.UserPreferences
}

func (l *userPreferencesLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.UserPreferences.DeviceID, l.Base.OrganizationID = l.DeviceID, l.OrganizationID
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	return &l.UserPreferences, refersTo(v, storage.HVACDeviceRef(l.OrganizationID, l.DeviceID), "deviceId", p)
}

type onboardingLine struct {
	lineHead
	storage.Onboarding
}

// prepare names a flow by its home where it has no identifier: a home has one.
func (l *onboardingLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	l.Base.OrganizationID = l.OrganizationID
	if l.ID == "" {
		l.ID = l.HomeID
	}
	if err := l.owner(v, p); err != nil {
		return nil, err
	}
	return &l.Onboarding, refersTo(v, storage.HomeRef(l.OrganizationID, l.HomeID), "homeId", p)
}

type webhookEndpointLine struct {
	lineHead
	ID string `json:"id"`
	EndpointSettings
	Secret string `json:"secret" null:"no"`
}

func (l *webhookEndpointLine) prepare(im *importer, v storage.View, pending *pending, p *problems) (storage.Entity, error) {
	e := storage.NewWebhookEndpoint(l.OrganizationID)
	e.ID = l.ID
	l.apply(&e)
	if err := l.owner(v, p); err != nil {
		return &e, err
	}
	checkSecret(p, l.Secret)
	before, err := im.endpointBefore(v, e.Ref())
	if err != nil {
		return &e, err
	}
	if err := im.applySecrets(&l.EndpointSettings, &e, &before, p); err != nil {
		return &e, err
	}
	if err := p.addError(im.Destinations(e.URL)); err != nil || p.Err() != nil {
		return &e, err
	}
	e.Secrets = before.Secrets
	if err := im.setSecret(&e, l.Secret, pending); err != nil {
		return &e, err
	}
	im.endpoints[e.Ref()] = &e
	return &e, nil
}

// endpointBefore is an endpoint as it is already, or nothing.
func (im *importer) endpointBefore(v storage.View, ref storage.Ref) (storage.WebhookEndpoint, error) {
	if e, ok := im.endpoints[ref]; ok {
		return *e, nil
	}
	if !ref.Valid() {
		return storage.WebhookEndpoint{}, nil
	}
	e, _, err := storage.Read[storage.WebhookEndpoint](v, ref)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.WebhookEndpoint{}, nil
	}
	return e, err
}

// setSecret leaves an endpoint's secrets as they are where the line brings none
// or the one in use, so that the same line again changes nothing.
func (im *importer) setSecret(e *storage.WebhookEndpoint, secret string, l *pending) error {
	if len(e.Secrets) > 0 {
		if secret == "" {
			return nil
		}
		current, err := im.Vault.Open(e.OrganizationID, e.ID, e.Secrets[0].Sealed)
		if err != nil || current == secret {
			return err
		}
	}
	made := im.newSecret(e, SecretChoice{Secret: secret, Signature: storage.SignatureHMAC}, im.call.now)
	if secret == "" {
		l.secret = made
	}
	return nil
}
