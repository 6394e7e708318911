package openadr

import (
	"fmt"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/storage"
)

// Request types of the OpenADR document, version 3.1.1. As the definition allows, unknown
// fields are ignored, and null is the same as an absent field. Some clients send null for
// every field that they do not use, also where the document has no null.

type program struct {
	_ struct{} `required:"programName"`

	ProgramName         string               `json:"programName" minLength:"1" maxLength:"128"`
	IntervalPeriod      *intervalPeriod      `json:"intervalPeriod,omitzero"`
	ProgramDescriptions []programDescription `json:"programDescriptions,omitempty"`
	PayloadDescriptors  []payloadDescriptor  `json:"payloadDescriptors,omitempty"`
	Attributes          []valuesMap          `json:"attributes,omitempty"`
	Targets             []string             `json:"targets,omitempty" itemsMinLength:"1" itemsMaxLength:"128"`
}

type programDescription struct {
	_ struct{} `required:"URL"`

	URL string `json:"URL" format:"uri" minLength:"2" maxLength:"8000"`
}

type event struct {
	_ struct{} `required:"programID"`

	ProgramID          string              `json:"programID" pattern:"id"`
	EventName          string              `json:"eventName,omitempty"`
	Duration           string              `json:"duration,omitempty" pattern:"duration"`
	Priority           *int                `json:"priority,omitzero" minimum:"0"`
	Targets            []string            `json:"targets,omitempty" itemsMinLength:"1" itemsMaxLength:"128"`
	ReportDescriptors  []reportDescriptor  `json:"reportDescriptors,omitempty"`
	PayloadDescriptors []payloadDescriptor `json:"payloadDescriptors,omitempty"`
	IntervalPeriod     *intervalPeriod     `json:"intervalPeriod,omitzero"`
	Intervals          []interval          `json:"intervals,omitempty"`
}

type report struct {
	_ struct{} `required:"eventID,clientName,resources"`

	EventID            string              `json:"eventID" pattern:"id"`
	ClientName         string              `json:"clientName" minLength:"1" maxLength:"128"`
	ReportName         string              `json:"reportName,omitempty"`
	PayloadDescriptors []payloadDescriptor `json:"payloadDescriptors,omitempty"`
	Resources          []reportResource    `json:"resources"`
}

type reportResource struct {
	_ struct{} `required:"resourceName,intervals"`

	ResourceName   string          `json:"resourceName" minLength:"1" maxLength:"128"`
	IntervalPeriod *intervalPeriod `json:"intervalPeriod,omitzero"`
	Intervals      []interval      `json:"intervals"`
}

type subscription struct {
	_ struct{} `required:"clientName,objectOperations"`

	ClientName       string            `json:"clientName" minLength:"1" maxLength:"128"`
	ProgramID        string            `json:"programID,omitempty" pattern:"id"`
	ObjectOperations []objectOperation `json:"objectOperations" minItems:"1" maxItems:"10"`
	Targets          []string          `json:"targets,omitempty" itemsMinLength:"1" itemsMaxLength:"128"`
}

type objectOperation struct {
	_ struct{} `required:"objects,operations,callbackUrl"`

	Objects     []storage.OpenADRType `json:"objects" maxItems:"6" itemsEnum:"PROGRAM,EVENT,REPORT,SUBSCRIPTION,VEN,RESOURCE"`
	Operations  []string              `json:"operations" maxItems:"4" itemsEnum:"READ,CREATE,UPDATE,DELETE"`
	CallbackURL string                `json:"callbackUrl" format:"uri" minLength:"2" maxLength:"2048"`
	BearerToken string                `json:"bearerToken,omitempty" maxLength:"4096"`
}

type ven struct {
	_ struct{} `required:"objectType,venName"`

	ObjectType string      `json:"objectType,omitempty" enum:"BL_VEN_REQUEST,VEN_VEN_REQUEST"`
	ClientID   string      `json:"clientID,omitempty" minLength:"1" maxLength:"128"`
	VENName    string      `json:"venName" minLength:"1" maxLength:"128"`
	Attributes []valuesMap `json:"attributes,omitempty"`
	Targets    []string    `json:"targets,omitempty" itemsMinLength:"1" itemsMaxLength:"128"`
}

type resource struct {
	_ struct{} `required:"objectType,resourceName,venID"`

	ObjectType   string      `json:"objectType,omitempty" enum:"BL_RESOURCE_REQUEST,VEN_RESOURCE_REQUEST"`
	ClientID     string      `json:"clientID,omitempty" minLength:"1" maxLength:"128"`
	ResourceName string      `json:"resourceName" minLength:"1" maxLength:"128"`
	VENID        string      `json:"venID" pattern:"id"`
	Attributes   []valuesMap `json:"attributes,omitempty"`
	Targets      []string    `json:"targets,omitempty" itemsMinLength:"1" itemsMaxLength:"128"`
}

type interval struct {
	_ struct{} `required:"id,payloads"`

	ID             int             `json:"id" minimum:"-2147483648" maximum:"2147483647"`
	IntervalPeriod *intervalPeriod `json:"intervalPeriod,omitzero"`
	Payloads       []valuesMap     `json:"payloads"`
}

type intervalPeriod struct {
	Start          start  `json:"start,omitempty" format:"start"`
	Duration       string `json:"duration,omitempty" pattern:"duration"`
	RandomizeStart string `json:"randomizeStart,omitempty" pattern:"duration"`
}

// start is the start of a period. The document also writes the zero time, which means now,
// without an offset. That is no date-time, so it is stored with one.
type start string

// UnmarshalText never fails: the schema has checked the text.
func (s *start) UnmarshalText(text []byte) error {
	*s = start(text)
	if *s == "0001-01-01" || *s == "0001-01-01T00:00:00" {
		*s = "0001-01-01T00:00:00Z"
	}
	return nil
}

type valuesMap struct {
	_ struct{} `required:"type,values"`

	Type   string `json:"type" minLength:"1" maxLength:"128"`
	Values []any  `json:"values"`
}

// payloadDescriptor describes the payloads of an event or a report.
type payloadDescriptor struct {
	_ struct{} `required:"objectType,payloadType"`

	ObjectType  string   `json:"objectType" enum:"EVENT_PAYLOAD_DESCRIPTOR,REPORT_PAYLOAD_DESCRIPTOR"`
	PayloadType string   `json:"payloadType" minLength:"1" maxLength:"128"`
	Units       string   `json:"units,omitempty" maxLength:"128"`
	Currency    string   `json:"currency,omitempty"`
	ReadingType string   `json:"readingType,omitempty" maxLength:"128"`
	Accuracy    *float64 `json:"accuracy,omitzero"`
	Confidence  *int     `json:"confidence,omitzero" minimum:"0" maximum:"100"`
}

type reportDescriptor struct {
	_ struct{} `required:"payloadType"`

	PayloadType     string   `json:"payloadType" minLength:"1" maxLength:"128"`
	ReadingType     string   `json:"readingType,omitempty" maxLength:"128"`
	Units           string   `json:"units,omitempty" maxLength:"128"`
	Targets         []string `json:"targets,omitempty" itemsMinLength:"1" itemsMaxLength:"128"`
	Aggregate       *bool    `json:"aggregate,omitzero"`
	StartInterval   *int     `json:"startInterval,omitzero" minimum:"-2147483648" maximum:"2147483647"`
	NumIntervals    *int     `json:"numIntervals,omitzero" minimum:"-2147483648" maximum:"2147483647"`
	Historical      *bool    `json:"historical,omitzero"`
	Frequency       *int     `json:"frequency,omitzero" minimum:"-2147483648" maximum:"2147483647"`
	Repeat          *int     `json:"repeat,omitzero" minimum:"-2147483648" maximum:"2147483647"`
	ReportIntervals string   `json:"reportIntervals,omitempty" enum:"INTERVALS,SUB_INTERVALS,OPEN_INTERVALS"`
}

// types has the schemas of the request types.
var types = &schema.Types{Open: true}

// checkValues adds a field error for each value of an invalid type. A value must be a
// number, a text, a boolean or a point.
func checkValues(p *rest.FieldErrors, field string, maps []valuesMap) {
	for i, m := range maps {
		for j, v := range m.Values {
			ok := false
			switch v := v.(type) {
			case float64, string, bool:
				ok = true
			case map[string]any:
				_, x := v["x"].(float64)
				_, y := v["y"].(float64)
				ok = x && y
			}
			p.Check(ok, fmt.Sprintf("%s[%d].values[%d]", field, i, j), "must be a number, a text, true, false, or a point with x and y")
		}
	}
}

func checkIntervals(p *rest.FieldErrors, field string, list []interval) {
	for i := range list {
		checkValues(p, fmt.Sprintf("%s[%d].payloads", field, i), list[i].Payloads)
	}
}

// checkDescriptors adds a field error for each descriptor of another objectType.
func checkDescriptors(p *rest.FieldErrors, list []payloadDescriptor, objectType string) {
	for i := range list {
		p.Check(list[i].ObjectType == objectType, fmt.Sprintf("payloadDescriptors[%d].objectType", i), "must be %s", objectType)
	}
}
