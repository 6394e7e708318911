package api

import (
	"context"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// operation turns a call's body into its input, checks it, and does what it asks.
// Problems already found are named together with those of the body.
type operation func(ctx context.Context, s *server, c *call, p *problems) (any, error)

// method is how an operation is written: its input has been decoded and checked.
type method[In, Out any] func(s *server, ctx context.Context, c *call, in *In) (Out, error)

// defaulter is an input with values that apply where a field is absent.
type defaulter interface{ setDefaults() }

// checker is an input with more to check than its shape.
type checker interface {
	check(s *server, c *call, p *problems)
}

// takes makes the operation of a method. A body that is absent is {} where it is
// optional.
func takes[In, Out any](body Body, do method[In, Out]) operation {
	return func(ctx context.Context, s *server, c *call, p *problems) (any, error) {
		in := new(In)
		if in, ok := any(in).(defaulter); ok {
			in.setDefaults()
		}
		given := len(c.body) > 0
		switch {
		case !given && body.required():
			p.Addf("body", "is required")
		case given && body != BodyLines:
			wrong := decode(c.body, in, "body", s.options.MaxDepth)
			if notJSON(wrong) {
				return nil, &storage.InvalidError{Fields: wrong}
			}
			p.add(wrong)
		}
		if in, ok := any(in).(checker); ok && (given || !body.required()) {
			var more problems
			in.check(s, c, &more)
			p.add(more.fields())
		}
		if err := p.Err(); err != nil {
			return nil, err
		}
		return do(s, ctx, c, in)
	}
}

// notJSON reports whether the text as a whole was refused.
func notJSON(wrong []storage.FieldError) bool {
	return len(wrong) == 1 && wrong[0].Field == "body"
}

// problems collects what is wrong with a request.
type problems struct{ storage.Problems }

func (p *problems) fields() []storage.FieldError {
	if err, ok := p.Err().(*storage.InvalidError); ok { //nolint:errorlint // made by Problems itself
		return err.Fields
	}
	return nil
}

// add adds what is wrong with fields that are not known to be wrong already: of
// a field that is no string, it does not help to hear that it is required.
func (p *problems) add(more []storage.FieldError) {
	known := p.fields()
	for _, m := range more {
		if !covered(known, m.Field) {
			p.Addf(m.Field, "%s", m.Message)
		}
	}
}

// addError adds the fields of an *storage.InvalidError and returns every other
// error.
func (p *problems) addError(err error) error {
	if err, ok := err.(*storage.InvalidError); ok { //nolint:errorlint // Validate returns it as it is
		p.add(err.Fields)
		return nil
	}
	return err
}

// covered reports whether the field or what it is part of is listed.
func covered(known []storage.FieldError, name string) bool {
	for _, k := range known {
		rest, ok := strings.CutPrefix(name, k.Field)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}
