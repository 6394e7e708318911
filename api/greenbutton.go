package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/greenbutton"
	"github.com/gridhook/gridhook/storage"
)

// importGreenButton imports a Green Button file like a line of a measured load.
func (s *server) importGreenButton(ctx context.Context, c *rest.Call, _ *struct{}) (out wire.GreenButtonImport, err error) {
	readings, err := greenbutton.Read(c.Text)
	if err != nil {
		return out, cmp.Or(c.Text.Err, rest.Invalid("body", err.Error()))
	}
	home, err := s.homeDetails(c.Org, c.ID)
	if err != nil {
		return out, err
	}
	zone, ok := storage.Location(home.Timezone)
	if !ok {
		return out, rest.Invalid("timezone", fmt.Sprintf("of home %q is missing: set it", c.ID))
	}
	months, err := readings.Months(zone)
	if err != nil {
		return out, rest.Invalid("body", err.Error())
	}
	out.Months = months[max(0, len(months)-storage.MaxMeasuredMonths):]
	out.Warnings = meterWarnings(readings, out.Months, zone)
	line, err := json.Marshal(map[string]any{
		"resource": storage.KindMeasuredLoad, "organizationId": c.Org, "homeId": c.ID, "months": out.Months,
	})
	if err != nil {
		return out, err
	}
	imported, err := s.importBody(ctx, c, line)
	switch {
	case err != nil:
		return out, err
	case imported.Failed > 0:
		return out, &storage.InvalidError{Fields: imported.Errors[0].Fields}
	case imported.Created > 0:
		out.Change = storage.Created
	case imported.Updated > 0:
		out.Change = storage.Updated
	default:
		out.Change = storage.Unchanged
	}
	return out, nil
}

// meterWarnings says which hours a file lacks, and that it has another local time than the
// home.
func meterWarnings(readings *greenbutton.Readings, months []storage.MeasuredMonth, zone *time.Location) []string {
	warnings := []string{}
	if other := readings.OtherClock(zone); other != "" {
		warnings = append(warnings, fmt.Sprintf("the file has the local time %s, but the home has the time zone %s, which applies", other, zone))
	}
	var gaps []string
	for _, m := range months {
		if m.MissingHours > 0 {
			gaps = append(gaps, fmt.Sprintf("%s lacks %g hours", m.Month, m.MissingHours))
		}
	}
	if len(gaps) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s of readings; a month that lacks more than %d hours is not used", strings.Join(gaps, ", "), storage.MaxMissingHours))
	}
	return warnings
}
