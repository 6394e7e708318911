package rest

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"github.com/gridhook/gridhook/storage"
)

// Router serves the routes to authenticated callers, and pages to all callers. It matches
// paths exactly as sent, without cleaning or decoding. A redirect to a cleaned path would
// turn a POST into a GET. An encoded slash is part of an invalid identifier.
func (s *Server) Router(authenticate Authenticator, routes []Route, pages []Page) http.Handler {
	r := mux.NewRouter().SkipClean(true).UseEncodedPath()
	for _, route := range routes {
		match(r, route.Path).Handler(s.Observe(route.Path, ownFormat, func(w http.ResponseWriter, r *http.Request, c *Call) (any, error) {
			return s.serve(w, r, c, &route, authenticate)
		}))
	}
	for _, page := range pages {
		r.Handle(page.Path, s.page(page))
	}
	r.NotFoundHandler = s.Observe(unmatched, ownFormat, func(http.ResponseWriter, *http.Request, *Call) (any, error) {
		return nil, errPath
	})
	return r
}

// Parameter is the only variable that a path may contain.
const Parameter = "{id}"

// match adds a route for a path. mux would compare each path by a regular expression, which
// takes many times as long as these comparisons.
func match(r *mux.Router, path string) *mux.Route {
	before, after, _ := strings.Cut(path, Parameter)
	return r.MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool {
		if !strings.HasPrefix(r.URL.Path, before) || !strings.HasSuffix(r.URL.Path, after) { // nearly every route
			return false
		}
		_, ok := identifier(r, path)
		return ok
	})
}

// identifier returns the identifier in the path of a request, as sent, and whether a route's
// path matches. An empty identifier matches because it is an invalid identifier, not an
// unknown path.
func identifier(r *http.Request, path string) (id string, ok bool) {
	before, after, variable := strings.Cut(path, Parameter)
	rest, begins := strings.CutPrefix(r.URL.EscapedPath(), before)
	id, ends := strings.CutSuffix(rest, after)
	return id, begins && ends && !strings.Contains(id, "/") && (variable || id == "")
}

// serve runs the checks and then the operation. The order of the checks decides which
// error a caller gets.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, c *Call, route *Route, authenticate Authenticator) (any, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, errMethod
	}
	limit := s.maxBody(route)
	if r.ContentLength > limit { // before its key is checked
		return nil, errTooLarge(limit)
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	var err error
	if !route.Open {
		if c.Caller, err = authenticate(r, route.Needs(), c.Now); err != nil {
			return nil, err
		}
		c.name(r)
	}
	if err := s.admit(c, route); err != nil {
		return nil, err
	}
	if route.Body == BodyXML {
		c.Text, err = s.textBody(w, r)
	} else {
		c.Body, err = s.readBody(r, c, route, limit)
	}
	if err == nil && !route.Open && s.SlowBody(c) {
		_, err = authenticate(r, route.Needs(), s.Store.Now())
	}
	if err != nil {
		return nil, err
	}
	c.Change = route.change()
	ctx, cancel := s.deadline(r, route)
	defer cancel()
	value, err := s.operate(ctx, r, c, route)
	if err != nil && route.EndsWithClient && r.Context().Err() != nil {
		err = errLeft
	}
	return value, err
}

// deadline returns the context of an operation. The context ends with the operation's
// timeout. It ends when the client disconnects only if the route says so. net/http cannot
// distinguish a disconnect from a half-closed connection. A write that a disconnect cancels
// would be reported as failed, although it may have been stored.
func (s *Server) deadline(r *http.Request, route *Route) (context.Context, context.CancelFunc) {
	ctx := r.Context()
	if !route.EndsWithClient {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithTimeout(ctx, max(s.Options.Timeout, route.Timeout))
}

// admit enforces the rate limit and then the key's scope. A request without the scope
// also counts against the rate limit.
func (s *Server) admit(c *Call, route *Route) error {
	if route.Open {
		if wait := s.addresses.take(c.Client, c.Now); wait > 0 {
			return errRate("This client address", wait)
		}
		return nil
	}
	if c.Operator {
		return nil
	}
	if err := s.takeRequest(c.Key, c.Now); err != nil {
		return err
	}
	if !c.Key.Allows(route.Scope) {
		return errScope(route.Scope)
	}
	return nil
}

// operate checks the path, the organization and the body, and runs the operation.
func (s *Server) operate(ctx context.Context, r *http.Request, c *Call, route *Route) (any, error) {
	if strings.Contains(route.Path, Parameter) {
		c.ID, _ = identifier(r, route.Path)
		if decoded, err := url.PathUnescape(c.ID); err == nil { // what does not decode is invalid as sent
			c.ID = decoded
		}
		storage.CheckID(&c.Wrong, "id", c.ID)
	}
	switch {
	case route.OperatorOnly() && !route.ForOrganization(), c.Operator && !c.named && route.OfOperator:
		c.Org = storage.Shared
	case (c.named || c.Operator) && route.ForOrganization():
		if !storage.ValidID(c.Org) {
			c.Wrong.Addf(OrganizationHeader, "must be one header with the identifier of an organization")
		} else if err := s.MayActFor(&c.Caller, c.Org); err != nil {
			return nil, err
		}
	}
	if route.Idempotent {
		c.IdempotencyKey = idempotencyKey(r, &c.Wrong)
	}
	return route.Run(ctx, c)
}

// maxBody returns the maximum size of a route's body in bytes.
func (s *Server) maxBody(route *Route) int64 {
	switch route.Body {
	case BodyLines:
		return s.Options.MaxImportBody
	case BodyXML:
		return s.Options.MaxXMLBody
	default:
		return s.Options.MaxBody
	}
}

// readBody returns the body, or nil if there is none. It checks the media type. An absent
// body may have any media type.
func (s *Server) readBody(r *http.Request, c *Call, route *Route, limit int64) ([]byte, error) {
	if r.ContentLength > 0 && !hasMediaType(r, route.Body.MediaType()) {
		return nil, errMediaType(route.Body.MediaType())
	}
	data, err := s.ReadBody(r, c, limit)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, nil
	}
	if !hasMediaType(r, route.Body.MediaType()) {
		return nil, errMediaType(route.Body.MediaType())
	}
	return data, nil
}

// hasMediaType reports whether the request has exactly one Content-Type, the required
// type. A charset must be UTF-8.
func hasMediaType(r *http.Request, want string) bool {
	given := r.Header.Values("Content-Type")
	if len(given) != 1 {
		return false
	}
	if given[0] == want { // the usual case
		return true
	}
	mediaType, params, err := mime.ParseMediaType(given[0])
	if err != nil || mediaType != want {
		return false
	}
	charset, ok := params["charset"]
	return len(params) == 0 || len(params) == 1 && ok && strings.EqualFold(charset, "utf-8")
}

// idempotencyKey returns the request's idempotency key, or an empty string.
func idempotencyKey(r *http.Request, p *FieldErrors) string {
	given := r.Header.Values(IdempotencyHeader)
	if len(given) == 0 {
		return ""
	}
	wrong := len(given) > 1 || given[0] == "" || len(given[0]) > 255 || strings.ContainsFunc(given[0], func(c rune) bool { return c < '!' || c > '~' })
	p.Check(!wrong, IdempotencyHeader, "must be one header of 1 to 255 visible ASCII characters")
	return given[0]
}
