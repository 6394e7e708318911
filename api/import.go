package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

// maxImportLines bounds the lines of one import, and with them the memory that
// reporting every one of them takes.
const maxImportLines = 200_000

// Imported is what became of the lines of an import.
type Imported struct {
	// Lines counts the lines that are not blank.
	Lines     int           `json:"lines"`
	Created   int           `json:"created"`
	Updated   int           `json:"updated"`
	Unchanged int           `json:"unchanged"`
	Failed    int           `json:"failed"`
	Errors    []ImportError `json:"errors"`
	// Secrets are the signing secrets that were made for new endpoints which
	// brought none, shown this once.
	Secrets []ImportedSecret `json:"secrets"`
}

// ImportError is a line that was left out, and why.
type ImportError struct {
	// Line is the line's number, from 1.
	Line     int                  `json:"line"`
	Resource string               `json:"resource"`
	ID       string               `json:"id"`
	Fields   []storage.FieldError `json:"fields"`
}

// ImportedSecret is the secret that was made for an endpoint.
type ImportedSecret struct {
	Line   int    `json:"line"`
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// errImportCut says that the log stopped answering on the way.
var errImportCut = &Problem{
	Status: http.StatusServiceUnavailable, Code: CodeUnavailable, RetryAfter: unavailableSeconds,
	Message:  "The service cannot store the whole import now.",
	Recovery: "Import the same again after retry_after_seconds: the lines that are stored already change nothing.",
}

// pending is a line that has been read and not been stored.
type pending struct {
	number   int
	resource string
	line     importLine
	wrong    []storage.FieldError

	entity storage.Entity
	secret string // made for it, if there was need
}

// importer takes one import through: read, then stored kind by kind, so that
// what a line refers to exists when it is looked at.
type importer struct {
	*server
	call   *call
	answer Imported
	byKind map[storage.Kind][]*pending
	// endpoints are those of this import, so that a repeated line finds the
	// secret of the one before it.
	endpoints map[storage.Ref]*storage.WebhookEndpoint
	// places know where zipcodes are, once a home has asked.
	places *eligibility.Checker
}

// placesOf are the same for all homes: the areas before them are stored by then.
func (im *importer) placesOf(v storage.View) (*eligibility.Checker, error) {
	if im.places != nil {
		return im.places, nil
	}
	var err error
	im.places, err = im.checker(v, storage.Shared)
	return im.places, err
}

// importInput stands for the lines, which are read one by one.
type importInput struct{}

func (importInput) check(_ *server, c *call, p *problems) {
	lines := bytes.Count(c.body, []byte("\n"))
	p.Check(lines <= maxImportLines, "body", "has %d lines; at most %d are taken at once", lines, maxImportLines)
}

func (s *server) importLines(ctx context.Context, c *call, _ *importInput) (Imported, error) {
	im := &importer{
		server: s, call: c, byKind: map[storage.Kind][]*pending{}, endpoints: map[storage.Ref]*storage.WebhookEndpoint{},
		answer: Imported{Errors: []ImportError{}, Secrets: []ImportedSecret{}},
	}
	number := 0
	for text := range bytes.Lines(c.body) {
		number++
		if text = bytes.TrimSpace(text); len(text) > 0 {
			im.answer.Lines++
			im.read(number, text)
		}
	}
	for _, kind := range storage.Kinds() {
		store := im.store
		switch kind {
		case storage.KindPlanEvent:
			store = im.storeEvents
		case storage.KindMarketSeries:
			store = im.storePrices
		}
		if err := store(ctx, im.byKind[kind]); err != nil {
			return Imported{}, err
		}
	}
	slices.SortFunc(im.answer.Errors, func(a, b ImportError) int { return a.Line - b.Line })
	return im.answer, nil
}

// read decodes one line by the resource that it names.
func (im *importer) read(number int, text []byte) {
	l := &pending{number: number}
	if int64(len(text)) > im.options.MaxBody {
		im.fail(l, []storage.FieldError{{Field: "line", Message: "is too long"}})
		return
	}
	// A first look at one field, which encoding/json takes in any case; what the strict
	// decoder would refuse, it refuses below.
	var head struct {
		Resource string `json:"resource"`
	}
	if bytes.Contains(text, []byte(`"resource"`)) && json.Unmarshal(text, &head) == nil {
		l.resource = head.Resource
	}
	if l.line = newLine(l.resource); l.line == nil {
		var anything json.RawMessage
		wrong := decode(text, &anything, "line", im.options.MaxDepth)
		if wrong == nil {
			wrong = []storage.FieldError{{Field: "resource", Message: "must be one of " + oneOf(importable)}}
		}
		im.fail(l, wrong)
		return
	}
	l.wrong = decode(text, l.line, "line", im.options.MaxDepth)
	if len(l.wrong) == 1 && l.wrong[0].Field == "line" { // it is no JSON at all
		im.fail(l, l.wrong)
		return
	}
	kind := storage.Kind(l.resource)
	im.byKind[kind] = append(im.byKind[kind], l)
}

// store checks the lines of one kind and stores those that are right.
func (im *importer) store(ctx context.Context, lines []*pending) error {
	var good []*pending
	var entities []storage.Entity
	err := im.Store.View(func(v storage.View) error {
		for _, l := range lines {
			ok, err := im.prepare(v, l)
			if err != nil {
				return err
			}
			if ok {
				good, entities = append(good, l), append(entities, l.entity)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, result := range im.Store.Upsert(ctx, entities) {
		if err := im.count(good[i], result); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the line's entity and reports whether it can be stored. The
// entity's own check is left to the store where nothing else is wrong.
func (im *importer) prepare(v storage.View, l *pending) (ok bool, err error) {
	var p problems
	p.add(l.wrong)
	if l.entity, err = l.line.prepare(im, v, l, &p); err != nil {
		return false, err
	}
	if p.Err() == nil {
		return true, nil
	}
	if err := p.addError(l.entity.Validate()); err != nil {
		return false, err
	}
	im.fail(l, p.fields())
	return false, nil
}

func (im *importer) count(l *pending, r storage.UpsertResult) error {
	var wrong *storage.InvalidError
	switch {
	case errors.As(r.Err, &wrong):
		im.fail(l, wrong.Fields)
	case errors.Is(r.Err, storage.ErrUnavailable), errors.Is(r.Err, storage.ErrConflict):
		return errImportCut
	case r.Err != nil:
		return r.Err
	case r.Change == storage.Created:
		im.answer.Created++
	case r.Change == storage.Updated:
		im.answer.Updated++
	default:
		im.answer.Unchanged++
	}
	if r.Err == nil && l.secret != "" {
		im.answer.Secrets = append(im.answer.Secrets, ImportedSecret{l.number, l.entity.Ref().ID, l.secret})
	}
	return nil
}

func (im *importer) fail(l *pending, wrong []storage.FieldError) {
	im.answer.Failed++
	e := ImportError{Line: l.number, Resource: l.resource, Fields: wrong}
	if l.entity != nil {
		e.ID = l.entity.Ref().ID
	}
	im.answer.Errors = append(im.answer.Errors, e)
}
