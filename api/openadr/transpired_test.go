package openadr

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// An event is over at the end of its duration, or of its last interval. An interval may
// have a period of its own.
func TestTranspired_Events(t *testing.T) {
	const start = `"intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"PT1H"}`
	interval := func(period string) string { return `{"id":0,"payloads":[]` + period + `}` }
	for _, tt := range []struct {
		name, body string
		over       string // the first moment at which the event is over, "" if there is none
	}{
		{"two hours", `{` + start + `,"intervals":[` + interval("") + `,` + interval("") + `]}`, "2026-07-01T02:00:00Z"},
		{"a duration", `{` + start + `,"duration":"P1D","intervals":[` + interval("") + `]}`, "2026-07-02T00:00:00Z"},
		{"a later interval", `{` + start + `,"intervals":[` + interval(`,"intervalPeriod":{"start":"2026-07-03T00:00:00Z"}`) + `,` + interval("") + `]}`, "2026-07-03T02:00:00Z"},
		{"a longer interval", `{` + start + `,"intervals":[` + interval(`,"intervalPeriod":{"duration":"PT3H"}`) + `]}`, "2026-07-01T03:00:00Z"},
		{"a period of the interval only", `{"intervals":[` + interval(`,"intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"PT1H"}`) + `]}`, "2026-07-01T01:00:00Z"},
		{"a random start", `{"intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"PT1H","randomizeStart":"PT5M"},"intervals":[` + interval("") + `]}`, "2026-07-01T01:05:00Z"},
		{"a random start of an interval", `{` + start + `,"intervals":[` + interval(`,"intervalPeriod":{"start":"2026-07-01T00:00:00Z","randomizeStart":"PT5M"}`) + `]}`, "2026-07-01T01:05:00Z"},
		{"an endless random start", `{"intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"PT1H","randomizeStart":"P9999Y"}}`, "2026-07-01T01:00:00Z"},
		{"no intervals", `{` + start + `}`, "2026-07-01T01:00:00Z"},
		{"no intervals and no duration", `{"intervalPeriod":{"start":"2026-07-01T00:00:00Z"}}`, ""},
		{"no period", `{"intervals":[` + interval("") + `]}`, ""},
		{"no end", `{` + start + `,"duration":"P9999Y"}`, ""},
		{"the zero start", `{"intervalPeriod":{"start":"0001-01-01T00:00:00Z","duration":"PT1H"},"intervals":[` + interval("") + `]}`, ""},
	} {
		o := &storage.OpenADRObject{Body: []byte(tt.body)}
		if tt.over == "" {
			if transpired(o, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: the event is over", tt.name)
			}
			continue
		}
		over, err := time.Parse(time.RFC3339, tt.over)
		if err != nil {
			t.Fatal(err)
		}
		if transpired(o, over.Add(-time.Second)) || !transpired(o, over) {
			t.Errorf("%s: the event is not over from %s on", tt.name, tt.over)
		}
	}
}
