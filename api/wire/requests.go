package wire

import (
	"cmp"
	"encoding/json"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// OrganizationNamer is a request that names an organization. The organization must exist
// or be empty.
type OrganizationNamer interface{ NamedOrganization() string }

// PageInput requests a page of a list.
type PageInput struct {
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of elements, by default 100."`
	After string `json:"after,omitempty" pattern:"cursor" doc:"The value of next of the previous page."`
}

// Paging returns the page of a request that embeds it.
func (in PageInput) Paging() PageInput { return in }

// OrganizationIDInput names an organization.
type OrganizationIDInput struct {
	_ struct{} `required:"organizationId"`

	OrganizationID string `json:"organizationId" pattern:"id"`
}

// NamedOrganization returns the organization.
func (in *OrganizationIDInput) NamedOrganization() string { return in.OrganizationID }

// OrganizationPageInput requests a page of an organization's resources.
type OrganizationPageInput struct {
	OrganizationIDInput
	PageInput
}

// HomesFilter selects homes.
type HomesFilter struct {
	RatePlanID string `json:"ratePlanId,omitempty" pattern:"id" doc:"Lists only homes on this rate plan. By default all homes are listed."`
	Search     string `json:"search,omitempty" maxLength:"128" doc:"Lists only homes with this text in their id, name, userId, zipcode, city or street address, in upper or lower case."`
}

// HomesInput requests a page of the caller's homes.
type HomesInput struct {
	PageInput
	HomesFilter
}

// ListHomesInput requests a page of an organization's homes.
type ListHomesInput struct {
	OrganizationPageInput
	HomesFilter
}

// DevicesInput requests a page of the caller's HVAC devices.
type DevicesInput struct {
	PageInput
	HomeID string `json:"homeId,omitempty" pattern:"id" doc:"Lists only devices of this home. By default all devices are listed."`
}

// CreateKeyInput has the fields of a new key.
type CreateKeyInput struct {
	_ struct{} `required:"organizationId"`

	OrganizationID string          `json:"organizationId" pattern:"id"`
	Description    string          `json:"description,omitempty" maxLength:"255"`
	Scopes         []storage.Scope `json:"scopes,omitempty" minItems:"1" doc:"The permissions of the key, by default read, write and trigger."`
	ExpiresAt      *storage.Time   `json:"expiresAt,omitempty" doc:"null if the key does not expire."`
}

// NamedOrganization returns the organization.
func (in *CreateKeyInput) NamedOrganization() string { return in.OrganizationID }

// RotateKeyInput has the settings of a key's rotation.
type RotateKeyInput struct {
	OverlapSeconds int `json:"overlapSeconds" minimum:"0" maximum:"2592000" default:"86400" doc:"How long the old key stays valid, by default a day."`
}

// CreateOrganizationInput has the fields of a new organization.
type CreateOrganizationInput struct {
	_ struct{} `required:"name"`

	ID                   string   `json:"id,omitempty" pattern:"id" doc:"By default the service generates an identifier."`
	Name                 string   `json:"name" minLength:"1" maxLength:"255"`
	ChildOrganizationIDs []string `json:"childOrganizationIds,omitempty" itemsPattern:"id" doc:"The organizations that the keys of a channel partner may act for."`
}

// UpdateOrganizationInput has the fields to change. An absent field keeps its value.
type UpdateOrganizationInput struct {
	Name                 *string   `json:"name,omitempty" minLength:"1" maxLength:"255" nullable:"false"`
	ChildOrganizationIDs *[]string `json:"childOrganizationIds,omitempty" itemsPattern:"id" nullable:"false" doc:"All organizations that the keys of a channel partner may act for."`
	Suspended            *bool     `json:"suspended,omitempty" nullable:"false" doc:"While it is true, the organization's keys are refused, its schedules do not run and its endpoints receive nothing. Its data is retained."`
}

// DeleteOrganizationInput confirms a deletion that cannot be undone.
type DeleteOrganizationInput struct {
	_ struct{} `required:"confirm"`

	Confirm string `json:"confirm" doc:"The identifier of the organization to delete, again."`
}

// PlanOwner names an organization. It is empty for shared plans.
type PlanOwner struct {
	OrganizationID string `json:"organizationId,omitempty" doc:"The organization that owns the resource. Without it, the operation is about the shared resources."`
}

// NamedOrganization returns the organization, which may be empty.
func (in *PlanOwner) NamedOrganization() string { return in.OrganizationID }

// Owner returns the owner of the plans: the organization, or storage.Shared if it is
// empty.
func (in *PlanOwner) Owner() string { return cmp.Or(in.OrganizationID, storage.Shared) }

// ListPlansInput requests a page of an organization's plans or of the shared plans.
type ListPlansInput struct {
	PlanOwner
	PageInput
}

// ImportPlanInput is a tariff with the identifier that homes refer to.
type ImportPlanInput struct {
	_ struct{} `required:"id"`

	PlanOwner
	ID      string             `json:"id" pattern:"id"`
	Name    string             `json:"name,omitempty" maxLength:"500" doc:"By default the name in the tariff."`
	Utility string             `json:"utility,omitempty" maxLength:"255"`
	Tariff  json.RawMessage    `json:"tariff,omitempty" doc:"The tariff in the JSON of the US Utility Rate Database, bare or inside items."`
	Parts   []pricing.PlanPart `json:"parts,omitempty" doc:"Two to eight other plans whose prices add up to the plan's, as an alternative to tariff. One or more have the role DELIVERY."`
	CatalogChoice
}

// ListCatalogInput requests plans of the catalog.
type ListCatalogInput struct {
	Utility string `json:"utility,omitempty" maxLength:"255" doc:"Words of the utility's name, its state, or its EIA number."`
	Search  string `json:"search,omitempty" maxLength:"255" doc:"Words of the plan's utility, name or identifier."`
	PageInput
}

// PlanIDInput identifies a rate plan and its owner.
type PlanIDInput struct {
	_ struct{} `required:"planId"`

	PlanOwner
	PlanID string `json:"planId" pattern:"id"`
}

// CreatePlanEventInput is an event of a rate plan.
type CreatePlanEventInput struct {
	_ struct{} `required:"kind,from,to"`

	PlanIDInput
	storage.PlanEvent
}

// HomeIDInput names a home.
type HomeIDInput struct {
	_ struct{} `required:"homeId"`

	HomeID string `json:"homeId" pattern:"id"`
}

// ZipcodeInput names a zipcode.
type ZipcodeInput struct {
	_ struct{} `required:"zipcode"`

	Zipcode string `json:"zipcode" pattern:"zipcode"`
}

// StartOnboardingInput has the fields to start an onboarding.
type StartOnboardingInput struct {
	HomeIDInput
	Zipcode             string `json:"zipcode,omitempty" pattern:"zipcode" doc:"By default the zipcode of the home."`
	ThermostatBrandCode string `json:"thermostatBrandCode,omitempty" maxLength:"255"`
}

// CompleteStepInput is a completed step of an onboarding.
type CompleteStepInput struct {
	HomeIDInput
	Step      *int `json:"step,omitempty" minimum:"0" maximum:"1000" doc:"The number of completed steps, by default one more than before."`
	Completed bool `json:"completed,omitempty" doc:"Marks the last step. The flow is then COMPLETED."`
}

// LinkedInput links or unlinks a device.
type LinkedInput struct {
	_ struct{} `required:"linked"`

	Linked bool `json:"linked" doc:"Whether the device is linked to the user."`
}

// SolarInput describes the solar system of a home.
type SolarInput struct {
	_ struct{} `required:"homeId,solarSystemSizeKw"`

	HomeID        string  `json:"homeId" pattern:"id"`
	SizeKw        float64 `json:"solarSystemSizeKw" exclusiveMinimum:"0" maximum:"1000" doc:"The system's size in kW, above 0 and at most 1000."`
	NonNetMetered bool    `json:"isNonNetMetered,omitempty" doc:"Whether exported energy never earns the retail rate. The default is false."`
	storage.SolarSettings
	// IdempotencyKey is a header. A repeat with the same key within 24 h gets the first
	// response.
	IdempotencyKey string `json:"-"`
}

// FeedbackInput is a submission of feedback. It needs no API key.
type FeedbackInput struct {
	_ struct{} `required:"feedback_type,summary,message"`

	storage.FeedbackForm
}

// TriggerInput requests the price signals of an organization's homes.
type TriggerInput struct {
	OrganizationID *string       `json:"organizationId,omitempty" pattern:"id" nullable:"false" doc:"By default the organization of the key."`
	StartTime      *storage.Time `json:"startTime,omitempty" doc:"The start of the window. Send both times, or neither for the 24 hours from the start of the current quarter hour."`
	EndTime        *storage.Time `json:"endTime,omitempty"`
	RatePlanIDs    []string      `json:"ratePlanIds,omitempty" maxItems:"100" itemsPattern:"id" doc:"Triggers only homes on these rate plans, such as plans with a new critical peak. By default all homes are triggered."`
	// IdempotencyKey is a header. A repeat with the same key within 24 h gets the first
	// response.
	IdempotencyKey string `json:"-"`
}

// ListTriggersInput requests the newest triggers.
type ListTriggersInput struct {
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of elements, by default 100."`
}

// ListDeliveriesInput filters the outcomes of deliveries. An empty field matches all
// deliveries.
type ListDeliveriesInput struct {
	Events     bool           `json:"events,omitempty" doc:"Lists the deliveries of events, such as flex_alert, instead of signals."`
	TriggerID  string         `json:"triggerId,omitempty" pattern:"id" doc:"The trigger, or with events the event."`
	HomeID     string         `json:"homeId,omitempty" pattern:"id"`
	EndpointID string         `json:"endpointId,omitempty" pattern:"id"`
	Outcome    events.Outcome `json:"outcome,omitempty" doc:"By default every outcome."`
	Since      *storage.Time  `json:"since,omitempty" doc:"Lists deliveries whose last attempt was at since or later, and before until."`
	Until      *storage.Time  `json:"until,omitempty"`
	Limit      int            `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of elements, by default 100."`
	After      string         `json:"after,omitempty" pattern:"delivery" doc:"The value of next of the previous page."`
}

// ReplayInput selects the deliveries of an endpoint to retry.
type ReplayInput struct {
	_ struct{} `required:"since"`

	Since    storage.Time `json:"since" nullable:"false" doc:"Retries deliveries whose last attempt was at this time or later."`
	Outcomes []string     `json:"outcomes,omitempty" minItems:"1" maxItems:"2" itemsEnum:"FAILED,EXPIRED" doc:"The outcomes to retry, by default FAILED and EXPIRED."`
	// IdempotencyKey is a header. A repeat with the same key within 24 h gets the first
	// response.
	IdempotencyKey string `json:"-"`
}

// Window is the time that a signal covers. Both times are set, or neither for the next 24
// hours.
type Window struct {
	StartTime *storage.Time `json:"startTime,omitempty" nullable:"false" doc:"The start of the window. Send both times, or neither for the 24 hours from the start of the current quarter hour."`
	EndTime   *storage.Time `json:"endTime,omitempty" nullable:"false"`
}

// PriceSignalInput requests the price signal of a home.
type PriceSignalInput struct {
	Window
	Explain bool                 `json:"explain,omitempty" doc:"Adds the components of the prices of each interval."`
	Format  storage.SignalFormat `json:"format,omitempty" default:"signal" enum:"signal,openadr3" doc:"The format of the signal, by default signal."`
}

// BillInput requests the bill of a home by its own rate plan, another rate plan or a
// tariff.
type BillInput struct {
	bill.Request
	RatePlanID string          `json:"ratePlanId,omitempty" pattern:"id" doc:"The rate plan of the bill, by default the home's own."`
	Tariff     json.RawMessage `json:"tariff,omitempty" doc:"The tariff of the bill in the JSON of the US Utility Rate Database, as an alternative to a rate plan. It may have hourly prices in realtimepricing."`
}

// SavingsInput requests an estimate of the savings from optimizing a home's heating and
// cooling. Temperatures are in the devices' units. A nil field defaults to the devices'
// value.
type SavingsInput struct {
	_ struct{} `required:"type"`

	savings.Request
}

// ListAuditInput filters the audit log. An empty field matches every entry.
type ListAuditInput struct {
	storage.AuditFilter
	PageInput
}
