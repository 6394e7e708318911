package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// Imported is the outcome of an import.
type Imported struct {
	Lines     int              `json:"lines" doc:"The number of lines that are not blank." example:"8"`
	Created   int              `json:"created" example:"7"`
	Updated   int              `json:"updated" example:"0"`
	Unchanged int              `json:"unchanged" example:"0"`
	Failed    int              `json:"failed" example:"1"`
	Errors    []ImportError    `json:"errors" doc:"The wrong lines. Beyond 100,000 wrong fields, a line has only the first of its wrong fields."`
	Secrets   []ImportedSecret `json:"secrets" doc:"The signing secrets of new endpoints and the texts of new keys. Only this response contains them."`
}

// GreenButtonImport is the outcome of a home's Green Button file.
type GreenButtonImport struct {
	Change   storage.Change          `json:"change" doc:"The effect on the home's measured load."`
	Months   []storage.MeasuredMonth `json:"months" doc:"The newest 13 months of the file, with the hours that have no readings."`
	Warnings []string                `json:"warnings" example:"[\"2026-06 lacks 1.5 hours of readings; a month that lacks more than 72 hours is not used\"]"`
}

// ImportError is a rejected line with the reason.
type ImportError struct {
	Line     int                  `json:"line" doc:"The number of the line, from 1." example:"4"`
	Resource string               `json:"resource" example:"solar"`
	ID       string               `json:"id" example:"home_1"`
	Fields   []storage.FieldError `json:"fields" example:"[{\"field\":\"solarSystemSizeKw\",\"message\":\"must be above 0 and at most 1000 kW\"}]"`
}

// ImportedSecret is a secret that the server generated for an endpoint, or the text of a key.
type ImportedSecret struct {
	Line   int    `json:"line" example:"4"`
	ID     string `json:"id" example:"ep_9"`
	Secret string `json:"secret" example:"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="`
}
