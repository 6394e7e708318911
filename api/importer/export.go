package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gridhook/gridhook/api/openadr"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// maxExport is the size in bytes after which a page of an export ends.
const maxExport = 4 << 20

// exporter collects the lines of one page.
type exporter struct {
	view  storage.View
	org   string
	now   time.Time
	lines []json.RawMessage
	size  int
}

// Export returns an organization's resources as lines of an import. A page has the lines
// of at most limit records. after is the cursor of the previous page, and next is empty at
// the end. Errors: storage.ErrNotFound for an unknown organization.
func Export(v storage.View, org, after string, limit int, now time.Time) (lines []json.RawMessage, next string, err error) {
	if _, _, err := storage.Read[storage.Organization](v, storage.OrganizationRef(org)); err != nil {
		return nil, "", err
	}
	x := &exporter{view: v, org: org, now: now, lines: []json.RawMessage{}}
	number, id, _ := strings.Cut(after, "-")
	first, _ := strconv.Atoi(number) // the schema has checked the cursor; an empty one starts at 0
	for i := first; i < len(resources); i++ {
		last, full, err := x.kind(resources[i].kind, id, &limit)
		if err != nil {
			return nil, "", err
		}
		if full {
			return x.lines, fmt.Sprintf("%02d-%s", i, last), nil
		}
		id = ""
	}
	return x.lines, "", nil
}

// kind adds the lines of a kind's records after an identifier. full reports whether the
// page ends with the record last.
func (x *exporter) kind(kind storage.Kind, after string, limit *int) (last string, full bool, err error) {
	owner := x.org
	if kind == storage.KindOrganization {
		owner = storage.Shared
	}
	for r, err := range storage.Live(x.view, kind, owner, after) {
		if err == nil && kind == storage.KindOrganization && r.ID != x.org {
			continue
		}
		if err == nil {
			err = x.record(r)
		}
		if err != nil {
			return "", false, err
		}
		if *limit--; *limit == 0 || x.size >= maxExport {
			return r.ID, true, nil
		}
	}
	return "", false, nil
}

// record adds the lines of a record.
func (x *exporter) record(r storage.Record) error {
	switch r.Kind {
	case storage.KindKey:
		k, err := storage.Decode[storage.Key](r)
		if err != nil || k.Link || !k.Live(x.now) { // a damaged key is refused like a revoked key
			return nil //nolint:nilerr // see above
		}
		return x.add(r.Kind, struct{}{}, map[string]any{"keyId": k.ID, "description": k.Description, "scopes": k.Scopes, "expiresAt": k.ExpiresAt})
	case storage.KindHome: // an import takes the defaults for the members that the stored form leaves out
		h, err := storage.Decode[storage.Home](r)
		if err != nil {
			return err
		}
		return x.add(r.Kind, h, nil)
	case storage.KindPlanEvent:
		of, err := storage.Decode[storage.PlanEvents](r)
		for i := range of.Events {
			err = errors.Join(err, x.add(r.Kind, of.Events[i], map[string]any{"planId": of.PlanID}))
		}
		return err
	case storage.KindMarketSeries:
		return x.series(r)
	case storage.KindUserPreferences:
		return x.stored(r, map[string]any{"deviceId": r.ID})
	case storage.KindWebhookEndpoint:
		e, err := storage.Decode[storage.WebhookEndpoint](r)
		if err != nil {
			return err
		}
		return x.add(r.Kind, wire.SettingsOf(&e), map[string]any{"id": e.ID})
	case storage.KindChannel:
		c, err := storage.Decode[storage.Channel](r)
		if err != nil {
			return err
		}
		return x.add(r.Kind, c.ChannelSettings, map[string]any{"id": c.ID})
	case storage.KindOpenADRProgram, storage.KindOpenADREvent, storage.KindOpenADRVEN, storage.KindOpenADRResource, storage.KindOpenADRReport, storage.KindOpenADRSubscription:
		return x.openADR(r)
	case storage.KindSource:
		s, err := storage.Decode[storage.Source](r)
		if err != nil {
			return err
		}
		s.URL = storage.MaskURL(s.URL)
		return x.add(r.Kind, s.SourceSettings, map[string]any{"id": s.ID})
	}
	return x.stored(r, nil)
}

// stored adds the line of a record in its stored form. Errors: *storage.DecodeError.
func (x *exporter) stored(r storage.Record, more map[string]any) error {
	if err := x.add(r.Kind, json.RawMessage(r.Value), more); err != nil {
		return &storage.DecodeError{Ref: r.Ref, Err: fmt.Errorf("does not decode: %w", err)}
	}
	return nil
}

// openADR adds the line of an OpenADR object, unless it is being deleted.
func (x *exporter) openADR(r storage.Record) error {
	o, err := storage.Decode[storage.OpenADRObject](r)
	if err != nil || o.Removed {
		return err
	}
	clientID, object, err := openadr.Export(&o)
	if err != nil {
		return err
	}
	more := map[string]any{"id": o.ID, "object": object}
	if clientID != "" {
		more["clientId"] = clientID
	}
	return x.add(r.Kind, struct{}{}, more)
}

// series adds a line for each month of a series.
func (x *exporter) series(r storage.Record) error {
	series, err := storage.Decode[storage.MarketSeries](r)
	if err != nil {
		return err
	}
	parts, err := series.Parts(x.view)
	for _, part := range parts {
		for len(part.Prices) > 0 && math.IsNaN(part.Prices[0]) { // a month may begin without prices
			part.Start, part.Prices = part.Start.Add(time.Duration(series.StepMinutes)*time.Minute), part.Prices[1:]
		}
		if len(part.Prices) == 0 {
			continue
		}
		prices := make([]*float64, len(part.Prices))
		for i, price := range part.Prices {
			if !math.IsNaN(price) {
				prices[i] = &price
			}
		}
		err = errors.Join(err, x.add(r.Kind, map[string]any{
			"node": series.Node, "market": series.Market, "timezone": series.Timezone, "stepMinutes": series.StepMinutes,
			"startTime": storage.Time{Time: part.Start}, "prices": prices,
		}, nil))
	}
	return err
}

// add adds a line: the JSON of a value without the fields that only the service sets, and
// more fields.
func (x *exporter) add(kind storage.Kind, value any, more map[string]any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	line := map[string]any{}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for name, field := range fields {
		line[name] = field
	}
	maps.Copy(line, more)
	for _, name := range []string{"createdAt", "updatedAt", "suspended"} {
		delete(line, name)
	}
	line["resource"], line["organizationId"] = kind, x.org
	if text, err = json.Marshal(line); err != nil {
		return err
	}
	// With the escapes of the store, an object can be larger than an import accepts.
	err = (*jsontext.Value)(&text).Compact(jsontext.PreserveRawStrings(false))
	x.lines, x.size = append(x.lines, text), x.size+len(text)
	return err
}
