package wire

// ExportInput requests a page of an export.
type ExportInput struct {
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of records, by default 100. A record may have several lines."`
	After string `json:"after,omitempty" pattern:"export" doc:"The value of next of the previous page."`
}
