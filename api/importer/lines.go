package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// importLine is a line of an import, decoded over the defaults of its resource.
type importLine interface {
	// prepare returns the line's entity and checks its references. The entity's own
	// fields are checked elsewhere.
	prepare(c *check) storage.Entity
}

// resourceLine is a kind of lines. line returns an empty line.
type resourceLine struct {
	kind storage.Kind
	line func() importLine
}

// resources lists the kinds of lines in the order in which an import stores them, so that
// referenced entities exist first. The documentation and an export have the same order.
var resources = []resourceLine{
	{storage.KindOrganization, func() importLine { return &organizationLine{} }},
	{storage.KindKey, func() importLine { return &keyLine{} }},
	{storage.KindUtility, func() importLine { return &utilityLine{Utility: storage.NewUtility()} }},
	{storage.KindDemandResponse, func() importLine { return &demandResponseLine{DemandResponse: storage.NewDemandResponse()} }},
	{storage.KindArea, func() importLine { return &areaLine{Area: storage.NewArea()} }},
	{storage.KindRatePlan, func() importLine { return &ratePlanLine{} }},
	{storage.KindPlanEvent, func() importLine { return &planEventLine{} }},
	{storage.KindMarketSeries, func() importLine { return &marketSeriesLine{} }},
	{storage.KindHome, func() importLine { return &homeLine{Home: storage.NewHome("")} }},
	{storage.KindSolar, func() importLine { return &solarLine{} }},
	{storage.KindUsage, func() importLine { return &usageLine{} }},
	{storage.KindMeasuredLoad, func() importLine { return &measuredLoadLine{} }},
	{storage.KindHomeMarket, func() importLine { return &homeMarketLine{} }},
	{storage.KindHVACDevice, func() importLine { return &hvacDeviceLine{HVACDevice: storage.NewHVACDevice("")} }},
	{storage.KindUserPreferences, func() importLine { return &userPreferencesLine{UserPreferences: storage.NewUserPreferences("", "")} }},
	{storage.KindOnboarding, func() importLine {
		return &onboardingLine{Onboarding: storage.Onboarding{Status: storage.OnboardingNotStarted, EligibilityStatus: storage.NotEligible}}
	}},
	{storage.KindWebhookEndpoint, func() importLine { return &webhookEndpointLine{EndpointSettings: wire.NewEndpointSettings()} }},
	{storage.KindChannel, func() importLine {
		return &channelLine{ChannelSettings: storage.ChannelSettings{Events: []string{}, Enabled: true}}
	}},
	{storage.KindSchedule, func() importLine {
		s := storage.NewSchedule("")
		return &scheduleLine{ScheduleSettings: wire.ScheduleSettings{Enabled: s.Enabled, Timezone: s.Timezone, Window: s.Window}}
	}},
	{storage.KindSource, func() importLine {
		return &sourceLine{SourceSettings: storage.SourceSettings{Parameters: map[string]string{}, Enabled: true}}
	}},
	{storage.KindOpenADRProgram, func() importLine { return &openadrProgramLine{} }},
	{storage.KindOpenADREvent, func() importLine { return &openadrEventLine{} }},
	{storage.KindOpenADRVEN, func() importLine { return &openadrVenLine{} }},
	{storage.KindOpenADRResource, func() importLine { return &openadrResourceLine{} }},
	{storage.KindOpenADRReport, func() importLine { return &openadrReportLine{} }},
	{storage.KindOpenADRSubscription, func() importLine { return &openadrSubscriptionLine{} }},
}

// newLine returns an empty line of a resource, or nil for an unknown resource.
func newLine(resource string) importLine {
	for _, r := range resources {
		if string(r.kind) == resource {
			return r.line()
		}
	}
	return nil
}

// resourceNames lists the resources for an error message.
func resourceNames() string {
	names := make([]string, len(resources))
	for i, r := range resources {
		names[i] = string(r.kind)
	}
	return strings.Join(names, ", ")
}

// LineTypes returns the types of the lines in the order of the resources.
func LineTypes() []reflect.Type {
	types := make([]reflect.Type, len(resources))
	for i, r := range resources {
		types[i] = reflect.TypeOf(r.line()).Elem()
	}
	return types
}

// lineHead has the common fields of lines with an organization.
type lineHead struct {
	Resource       string `json:"resource" doc:"The kind of resource of the line."`
	OrganizationID string `json:"organizationId" pattern:"id" doc:"The organization of the resource. All organizations share a rate plan without one."`
}

// check is the check of one line.
type check struct {
	*importer
	v   storage.View
	l   *pending
	p   rest.FieldErrors
	err error // first error of the store
}

// failed records an error of the store.
func (c *check) failed(err error) { c.err = cmp.Or(c.err, err) }

// replaced returns the stored entity that the line replaces. An invalid reference has none. An
// entity that does not decode counts as absent: the import repairs it.
func replaced[T any, P storage.PointerTo[T]](c *check, ref storage.Ref) (e T, found bool) {
	if !ref.Valid() {
		return e, false
	}
	stored, _, err := storage.Read[T, P](c.v, ref)
	if err == nil {
		return stored, true
	}
	if !storage.NoRecord(err) {
		c.failed(err)
	}
	return e, false
}

// keep sets a field to its stored value if the line replaces an entity and does not name the
// field. An import without the field must not resume a paused endpoint, channel, schedule or
// source.
func (c *check) keep(found bool, field string, value *bool, stored bool) {
	var fields map[string]json.RawMessage
	if found && json.Unmarshal(c.l.text, &fields) == nil && fields[field] == nil { // the first decoding has reported the error
		*value = stored
	}
}

// owner adds a field error if the line's organization does not exist.
func (c *check) owner(h *lineHead) {
	storage.CheckID(&c.p, "organizationId", h.OrganizationID)
	c.refersTo(storage.OrganizationRef(h.OrganizationID), "organizationId")
}

// sharedOwner returns the organization of a line, or storage.Shared if the line names no
// organization. It adds a field error if the organization does not exist.
func (c *check) sharedOwner(h *lineHead) string {
	if h.OrganizationID == "" {
		return storage.Shared
	}
	c.owner(h)
	return h.OrganizationID
}

// ofHome sets the organization of a home's entity. It adds a field error if the
// organization or the home does not exist.
func (c *check) ofHome(h *lineHead, b *storage.Base, homeID string) {
	b.OrganizationID = h.OrganizationID
	c.owner(h)
	c.refersTo(storage.KindHome.Ref(h.OrganizationID, homeID), "homeId")
}

// refersTo adds a field error if the entity does not exist. The field's pattern reports
// an invalid identifier.
func (c *check) refersTo(ref storage.Ref, field string) {
	if !ref.Valid() {
		return
	}
	r, err := c.v.Get(ref)
	if errors.Is(err, storage.ErrNotFound) || err == nil && r.Deleted {
		c.p.Addf(field, "%s", noEntity(ref))
		return
	}
	c.failed(err)
}

// noEntity is the message for a reference to an entity that does not exist.
func noEntity(ref storage.Ref) string {
	if ref.Kind == storage.KindRatePlan && ref.Org == storage.Shared {
		return fmt.Sprintf("no shared rate plan %q: if an organization has it, add organizationId", ref.ID)
	}
	return fmt.Sprintf("there is no %s %q", ref.Kind, ref.ID)
}

type organizationLine struct {
	_ struct{} `required:"resource,id,name"`

	lineHead
	storage.Organization
}

// prepare uses organizationId as a missing id, because organizationId names the
// organization on every other line.
func (l *organizationLine) prepare(c *check) storage.Entity {
	named := l.OrganizationID
	l.ID = cmp.Or(l.ID, named)
	c.p.Check(named == "" || named == l.ID, "organizationId", "must be absent or the same as id")
	l.Base.OrganizationID = storage.Shared
	stored, _ := replaced[storage.Organization](c, storage.OrganizationRef(l.ID))
	l.Suspended = stored.Suspended // only an update changes it
	return &l.Organization
}

type ratePlanLine struct {
	_ struct{} `required:"resource"`

	lineHead
	storage.RatePlan
	wire.CatalogChoice
}

func (l *ratePlanLine) prepare(c *check) storage.Entity {
	l.Choose(&l.RatePlan, &c.p)
	l.Base.OrganizationID = c.sharedOwner(&l.lineHead)
	c.failed(storage.CheckComposed(&c.p, c.v, &l.RatePlan))
	return &l.RatePlan
}

type homeLine struct {
	_ struct{} `required:"resource,organizationId,id"`

	lineHead
	storage.Home
}

// prepare does not require the rate plan to exist. The plan may be imported later. Until
// then, requests report that the home cannot be priced.
func (l *homeLine) prepare(c *check) storage.Entity {
	l.Base.OrganizationID = l.OrganizationID
	c.owner(&l.lineHead)
	c.Place(c.v, &l.Home) // all areas of the import are stored before the first home
	return &l.Home
}

type solarLine struct {
	_ struct{} `required:"resource,organizationId,homeId,solarSystemSizeKw"`

	lineHead
	storage.Solar
}

func (l *solarLine) prepare(c *check) storage.Entity {
	c.ofHome(&l.lineHead, &l.Base, l.HomeID)
	l.CheckInput(&c.p, c.v, c.now)
	return &l.Solar
}
