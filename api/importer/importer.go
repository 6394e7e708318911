package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// MaxLines is the maximum number of lines in an import. It also bounds the memory for
// reporting every line.
const MaxLines = 200_000

// maxWrong is the number of wrong fields of an import beyond which each line reports only its
// first wrong field. A line of 700 bytes can have 101.
const maxWrong = 100_000

// errImportCut reports that the log became unavailable during an import.
var errImportCut = rest.NewProblem(rest.CodeUnavailable, "The service cannot store the whole import now.",
	"Import the same lines again after retry_after_seconds. Lines that are already stored change nothing.").After(rest.UnavailableSeconds)

// pending is a line that is decoded but not stored.
type pending struct {
	number   int
	text     []byte
	resource string
	line     importLine
	wrong    []storage.FieldError

	entity   storage.Entity   // nil before prepare
	problems rest.FieldErrors // of the line and its references
	secret   string           // secret that the import generated, if any
}

// Deps are the dependencies of an import.
type Deps struct {
	Store *storage.Store
	// Decode decodes a line by the tags of its type.
	Decode func(text []byte, dst any, root string) (wrong []storage.FieldError, read bool)
	// MaxLine is the maximum length of a line in bytes. MaxDepth is the maximum nesting
	// depth of a line.
	MaxLine  int64
	MaxDepth int

	// The remaining fields are functions that lines share with the API's operations.

	// Place sets a home's time zone and city from its zipcode.
	Place func(v storage.View, h *storage.Home)
	// SetEvents sets events of a plan atomically.
	SetEvents func(ctx context.Context, plan storage.Ref, events []storage.PlanEvent) ([]storage.Change, error)
	// Configure applies settings to an endpoint and checks it. before is the endpoint before
	// the change.
	Configure func(in *wire.EndpointSettings, e, before *storage.WebhookEndpoint, p *rest.FieldErrors) error
	// ConfigureSource applies settings to a source like Configure.
	ConfigureSource func(in *storage.SourceSettings, source, before *storage.Source, p *rest.FieldErrors) error
	// ConfigureChannel applies settings to a notification channel like Configure.
	ConfigureChannel func(in *storage.ChannelSettings, c, before *storage.Channel, p *rest.FieldErrors) error
	// ConfigureSchedule applies settings to a schedule.
	ConfigureSchedule func(in *wire.ScheduleSettings, s *storage.Schedule, p *rest.FieldErrors)
	// SetOpenADR sets an OpenADR object. See openadr.Importer.
	SetOpenADR func(v storage.View, o, before *storage.OpenADRObject, object json.RawMessage, now time.Time, p *rest.FieldErrors) error
	// NewSecret sets an endpoint's new secret, unless it is the current secret.
	NewSecret func(e *storage.WebhookEndpoint, choice wire.SecretChoice, now time.Time) (shown string)
}

// importer runs one import. It reads all lines first and then stores them kind by kind. A
// line can therefore refer to a resource of another line.
type importer struct {
	Deps
	caller *rest.Caller
	now    time.Time
	report wire.Imported
	wrong  int // number of wrong fields so far
	byKind map[storage.Kind][]*pending
	// keys has the organizations of this import's new keys by identifier.
	keys map[string]string
	// organizations has the organizations of the lines that the store got.
	organizations map[string]bool
	// cut is set if the log became unavailable.
	cut bool
}

// Import stores the correct lines of a body and reports the others. If the log becomes
// unavailable, Import returns a problem that asks for a retry. But a retry does not show a
// generated secret again. After storing such a secret, Import therefore reports the lines
// that are not stored. The audit entry of the call names the organization if there is only one.
func Import(ctx context.Context, d Deps, call *rest.Call, body []byte) (wire.Imported, error) {
	im := &importer{
		Deps: d, caller: &call.Caller, now: call.Now, byKind: map[storage.Kind][]*pending{}, keys: map[string]string{}, organizations: map[string]bool{},
		report: wire.Imported{Errors: []wire.ImportError{}, Secrets: []wire.ImportedSecret{}},
	}
	defer func() {
		if all := slices.Collect(maps.Keys(im.organizations)); len(all) == 1 {
			call.Change.Org = all[0]
		}
	}()
	number := 0
	for text := range bytes.Lines(body) {
		number++
		if text = bytes.TrimSpace(text); len(text) > 0 {
			im.report.Lines++
			im.read(number, text)
		}
	}
	for _, r := range resources {
		store := im.store
		switch r.kind {
		case storage.KindRatePlan:
			store = im.storePlans
		case storage.KindPlanEvent:
			store = im.storeEvents
		case storage.KindMarketSeries:
			store = im.storePrices
		}
		if err := store(ctx, im.byKind[r.kind]); err != nil {
			return wire.Imported{}, err
		}
		if im.cut && len(im.report.Secrets) == 0 {
			return wire.Imported{}, errImportCut
		}
	}
	slices.SortFunc(im.report.Errors, func(a, b wire.ImportError) int { return a.Line - b.Line })
	return im.report, nil
}

// read decodes a line by its resource.
func (im *importer) read(number int, text []byte) {
	l := &pending{number: number, text: text}
	if int64(len(text)) > im.MaxLine {
		im.fail(l, []storage.FieldError{{Field: "line", Message: "is too long"}})
		return
	}
	// encoding/json only reads the resource, ignoring the case of the field name. The
	// strict decoder below refuses invalid lines.
	var head struct {
		Resource string `json:"resource"`
	}
	if bytes.Contains(text, []byte(`"resource"`)) && json.Unmarshal(text, &head) == nil {
		l.resource = head.Resource
	}
	read := im.decode(l)
	if l.line == nil {
		wrong := schema.Check(text, "line", im.MaxDepth)
		switch {
		case wrong != nil:
		case !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")):
			wrong = []storage.FieldError{{Field: "line", Message: "must be one JSON object, not a list or a value"}}
		default:
			wrong = []storage.FieldError{{Field: "resource", Message: "must be one of " + resourceNames()}}
		}
		im.fail(l, wrong)
		return
	}
	if !read {
		im.fail(l, l.wrong)
		return
	}
	kind := storage.Kind(l.resource)
	im.byKind[kind] = append(im.byKind[kind], l)
}

// decode decodes a line over the defaults of its resource. line stays nil for an unknown
// resource.
func (im *importer) decode(l *pending) (read bool) {
	l.secret = ""
	if l.line = newLine(l.resource); l.line == nil {
		return false
	}
	wrong, read := im.Decode(l.text, l.line, "line")
	l.wrong = im.bounded(l, wrong)
	if o, ok := l.line.(*organizationLine); ok && o.ID == "" && o.OrganizationID != "" { // prepare uses it as the id
		l.wrong = slices.DeleteFunc(l.wrong, func(f storage.FieldError) bool { return f.Field == "id" })
	}
	return read
}

// bounded returns the wrong fields of a line that an import reports. l.wrong is counted
// already, and wrong begins with it.
func (im *importer) bounded(l *pending, wrong []storage.FieldError) []storage.FieldError {
	im.wrong += max(0, len(wrong)-len(l.wrong))
	if most := max(1, len(l.wrong)); im.wrong > maxWrong && len(wrong) > most {
		return slices.Clone(wrong[:most])
	}
	return wrong
}

// store checks the lines of one kind and stores the correct lines. A line may keep a part of
// the stored entity, such as the secrets of an endpoint. store therefore makes the entity again
// if it changes meanwhile, and stores lines of the same entity one after another.
func (im *importer) store(ctx context.Context, lines []*pending) error {
	for tries := 5; len(lines) > 0; {
		left, err := im.storeOnce(ctx, lines, tries == 0)
		if err != nil {
			return err
		}
		if len(left) == len(lines) {
			tries--
		}
		lines = left
	}
	return nil
}

// storeOnce returns the lines whose entities have changed since they were read, and the further
// lines of an entity. After the last try it reports changed entities instead.
func (im *importer) storeOnce(ctx context.Context, lines []*pending, last bool) (left []*pending, err error) {
	good, further, revision, err := im.prepareAll(lines, false)
	if err != nil {
		return nil, err
	}
	entities := make([]storage.Entity, len(good))
	for i, l := range good {
		entities[i] = l.entity
	}
	for i, result := range im.Store.UpsertFrom(ctx, revision, entities) {
		if errors.Is(result.Err, storage.ErrConflict) && !last {
			left = append(left, good[i])
			continue
		}
		if err := im.count(good[i], result); err != nil {
			return nil, err
		}
	}
	return append(left, further...), nil
}

// prepareAll prepares lines in one view. It returns the lines that can be stored, and the
// revision of the view. Unless lines are parts of entities, further has the lines of entities
// of earlier lines.
func (im *importer) prepareAll(lines []*pending, parts bool) (good, further []*pending, revision uint64, err error) {
	taken := map[storage.Ref]bool{}
	err = im.Store.View(func(v storage.View) error {
		revision = v.Revision()
		for _, l := range lines {
			// A line that was prepared before need not be prepared to know its entity.
			if l.entity == nil || !taken[l.entity.Ref()] {
				if err := im.prepare(v, l); err != nil {
					return err
				}
			}
			switch ref := l.entity.Ref(); {
			case taken[ref]:
				further = append(further, l)
			case im.refuse(l):
			default:
				good, taken[ref] = append(good, l), !parts
			}
		}
		return nil
	})
	return good, further, revision, err
}

// prepare builds the line's entity. It decodes a line again that was prepared before.
func (im *importer) prepare(v storage.View, l *pending) error {
	if l.entity != nil {
		im.decode(l)
	}
	c := check{importer: im, v: v, l: l}
	c.p.Add(l.wrong)
	l.entity = l.line.prepare(&c)
	l.problems = c.p
	return c.err
}

// refuse reports a prepared line that has errors. If the line has none, the store validates the
// entity.
func (im *importer) refuse(l *pending) bool {
	if l.problems.Err() == nil {
		return false
	}
	l.entity.Check(&l.problems)
	im.fail(l, l.problems.List())
	return true
}

func (im *importer) count(l *pending, r storage.UpsertResult) error {
	var wrong *storage.InvalidError
	var damaged *storage.DecodeError
	var limit *storage.LimitError
	var erased *storage.ErasedError
	var missing *storage.NotFoundError
	im.organizations[l.entity.Ref().Organization()] = true
	switch {
	case errors.As(r.Err, &wrong):
		im.fail(l, wrong.Fields)
	case errors.As(r.Err, &damaged): // the line is a part of the stored record
		im.fail(l, []storage.FieldError{{Field: "line", Message: damaged.Error()}})
	case errors.As(r.Err, &limit):
		im.fail(l, []storage.FieldError{{Field: "resource", Message: limit.Error()}})
	case errors.As(r.Err, &erased):
		im.fail(l, []storage.FieldError{{Field: "organizationId", Message: erased.Error()}})
	case errors.As(r.Err, &missing): // deleted after the line was checked
		im.fail(l, []storage.FieldError{{Field: "line", Message: noEntity(missing.Ref)}})
	case errors.Is(r.Err, storage.ErrUnavailable), errors.Is(r.Err, storage.ErrConflict):
		im.cut = true
		message := "the service cannot store it now: import the line again"
		if l.secret != "" { // it may be stored nevertheless
			message += ". If it is unchanged then, rotate its secret"
		}
		im.fail(l, []storage.FieldError{{Field: "line", Message: message}})
	case r.Err != nil:
		return r.Err
	case r.Change == storage.Created:
		im.report.Created++
	case r.Change == storage.Updated:
		im.report.Updated++
	default:
		im.report.Unchanged++
	}
	if r.Change != "" && l.secret != "" {
		im.report.Secrets = append(im.report.Secrets, wire.ImportedSecret{Line: l.number, ID: l.entity.Ref().ID, Secret: l.secret})
	}
	return nil
}

func (im *importer) fail(l *pending, wrong []storage.FieldError) {
	im.report.Failed++
	e := wire.ImportError{Line: l.number, Resource: l.resource, Fields: im.bounded(l, wrong)}
	if l.entity != nil {
		e.ID = l.entity.Ref().ID
	}
	im.report.Errors = append(im.report.Errors, e)
}
