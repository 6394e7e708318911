package api

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// method is the Go form of an operation. Its input is decoded and checked.
type method[In, Out any] func(s *server, ctx context.Context, c *rest.Call, in *In) (Out, error)

// defaulter is an input with default values for absent fields.
type defaulter interface{ setDefaults() }

// checker is an input with checks beyond its schema. check adds the wrong fields to
// c.Wrong.
type checker interface{ check(c *rest.Call) }

// takes returns the operation of a method. An absent optional body means {}.
func takes[In, Out any](s *server, r *rest.Route, run method[In, Out]) rest.Operation {
	body, checks := r.Body, r.Checks
	return func(ctx context.Context, c *rest.Call) (any, error) {
		in := new(In)
		setDefaults(in)
		given := len(c.Body) > 0 && (body.Required() || string(c.Body) != "{}")
		switch {
		case body == rest.BodyXML: // the operation reads it
		case !given && body.Required():
			c.Wrong.Addf("body", "is required")
			return nil, c.Wrong.Err()
		case given && body != rest.BodyLines:
			if err := s.readInput(ctx, c, in); err != nil {
				return nil, err
			}
		}
		s.checkInput(in, c)
		if err := c.Wrong.Err(); err != nil && !checks {
			return nil, err
		}
		return run(s, ctx, c, in)
	}
}

// readInput decodes the body of a call and adds its wrong fields to c.Wrong. It refuses a large
// body with wrong fields, whose further checks could take longer than its decoding. It may return
// the errors of rest.Server.Decode.
func (s *server) readInput(ctx context.Context, c *rest.Call, in any) (err error) {
	var wrong []storage.FieldError
	read := false
	err = s.rest.Decode(ctx, c, c.Body, func() { wrong, read = s.decode(c.Body, in, "body") })
	if err == nil && (!read || len(wrong) > 0 && len(c.Body) > rest.LargeBody) {
		return &storage.InvalidError{Fields: wrong}
	}
	c.Wrong.Add(wrong)
	return err
}

// setDefaults sets the default values of an input.
func setDefaults(in any) {
	schema.SetDefaults(in)
	if in, ok := in.(defaulter); ok {
		in.setDefaults()
	}
}

// checkInput adds the errors of an input beyond its schema to c.Wrong.
func (s *server) checkInput(in any, c *rest.Call) {
	if in, ok := in.(wire.OrganizationNamer); ok && in.NamedOrganization() != "" {
		c.Change.Org = in.NamedOrganization()
		s.checkOrganization(&c.Wrong, c.Change.Org)
	}
	if in, ok := in.(checker); ok {
		in.check(c)
	}
}

// types describes the inputs of operations.
var types = wire.NewTypes()

// decode decodes a JSON object by the tags of dst's type. See schema.Decode.
func (s *server) decode(text []byte, dst any, root string) (wrong []storage.FieldError, read bool) {
	return schema.Decode(text, dst, types.Of(reflect.TypeOf(dst).Elem(), schema.Request), root, s.rest.Options.MaxDepth)
}

// operation is a row of a table of operations. It returns the operation's route at a
// server.
type operation func(s *server) rest.Route

// do completes a route with the method that it runs. Without a body in its row, an update
// and an input with required fields require a body. Every other input is optional. A row
// has the type of the response only if it is not the Go type of the method's result.
func do[In, Out any](row rest.Route, run method[In, Out]) operation {
	return func(s *server) rest.Route {
		r := row
		r.In = reflect.TypeFor[In]()
		if r.Out == nil {
			r.Out = reflect.TypeFor[Out]()
		}
		switch {
		case r.Body != rest.BodyNone || r.In == reflect.TypeFor[struct{}]():
		case r.Partial || schema.Requires(r.In):
			r.Body = rest.BodyRequired
		default:
			r.Body = rest.BodyOptional
		}
		if !r.Partial {
			in := new(In)
			setDefaults(in)
			r.Default = in
		}
		r.Run = takes(s, &r, run)
		return r
	}
}

// resolveWindow returns the window of two timestamps, or the default window if both are
// absent. It adds the window's errors to c.Wrong. An unreadable timestamp is zero, and the
// schema has reported it. It counts as given, so that the response also names a missing or
// wrong other timestamp.
func resolveWindow(c *rest.Call, start, end *storage.Time) pricing.Window {
	w, err := pricing.ResolveWindow(given(start), given(end), c.Now)
	if wrong, ok := errors.AsType[*pricing.InvalidError](err); ok {
		c.Wrong.Add(wrong.Fields)
	}
	return w
}

// valueOr returns the value of a field, or otherwise if the field is absent.
func valueOr[T any](field *T, otherwise T) T {
	if field == nil {
		return otherwise
	}
	return *field
}

func given(t *storage.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}
