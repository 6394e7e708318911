package openadr

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/vault"
)

// Deps are the dependencies of the operations.
type Deps struct {
	Store  *storage.Store
	Pricer *signals.Pricer
	Vault  *vault.Vault
	// REST observes requests and checks keys and their rate limits.
	REST *rest.Server
	// CheckDestination adds a field error to p if the operator's policy refuses the URL of a
	// callback in a field.
	CheckDestination func(field, rawURL string, p *rest.FieldErrors) error
	// Verify asks the callback in a field to prove that it belongs to the client, as the
	// definition requires, and adds the field to p otherwise. If nil, callbacks are not
	// verified. Errors: too many at once for the caller.
	Verify func(ctx context.Context, c *rest.Caller, rawURL, field string, p *rest.FieldErrors) error
	// CheckHistory returns an error if the organization's history is full. Each change
	// becomes a part of it.
	CheckHistory func(org string) error
	// MQTT is nil if there is no listener for MQTT clients.
	MQTT *MQTT
}

// Prefix is the path prefix of every operation. The version follows it.
const Prefix = "/openadr3/"

// MaxBody is the maximum size of a body in bytes. An object must fit into one message to
// its subscribers.
const MaxBody = 256 << 10

// caller is the API key of a request and its role.
type caller struct {
	*storage.Key
	business bool
}

// request is a request as an operation sees it.
type request struct {
	*http.Request
	*rest.Call
	caller caller
	id     string
	query  url.Values
	data   []byte // the body, once it is read
	// importer is set for an object of an import.
	importer *Importer
}

// view runs fn, which may look at all objects of a type, in a view: in the view of an import,
// if the request is part of one. A view within a view could wait for itself.
func (s *server) view(r *request, fn func(storage.View) error) error {
	if r.importer != nil {
		return fn(r.importer.view)
	}
	return s.REST.Scan(r.Context(), r.Call, fn)
}

// created is a value for a response with status 201.
type created struct{ value any }

// route is an operation of the OpenADR document.
type route struct {
	method, path string
	// open, business and ven say which callers may use the route. An open route needs no
	// token.
	open, business, ven bool
	run                 func(r *request) (any, error)
	handler             http.Handler // observes run
}

type server struct {
	Deps
	routes []route
}

// New returns the handler of all paths below Prefix.
func New(d Deps) http.Handler {
	s := &server{Deps: d}
	s.routes = slices.Concat(s.objectRoutes(), s.notifierRoutes(), []route{
		{method: http.MethodGet, path: "auth/server", open: true, run: s.authServer},
		{method: http.MethodPost, path: "auth/token", open: true, run: s.token},
	})
	if d.MQTT != nil {
		d.MQTT.Admit(Admission{s.admit, s.live})
	}
	for i, rt := range s.routes {
		s.routes[i].handler = d.REST.Observe(rt.method+" "+Prefix+rt.path, format, func(_ http.ResponseWriter, r *http.Request, c *rest.Call) (any, error) {
			return s.operate(&rt, r, c)
		})
	}
	return http.HandlerFunc(s.dispatch)
}

// dispatch finds the route of a request. All versions 3.1.x have the same routes.
func (s *server) dispatch(w http.ResponseWriter, r *http.Request) {
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")
	var allowed []string
	for _, rt := range s.routes {
		if !strings.HasPrefix(version, "3.1.") || !matches(rt.path, path) {
			continue
		}
		if rt.method == r.Method {
			rt.handler.ServeHTTP(w, r)
			return
		}
		allowed = append(allowed, rt.method)
	}
	err := error(&rest.Problem{Status: http.StatusNotFound, Message: "There is no OpenADR operation at this path.", Recovery: "Use a path of the OpenADR 3.1 document below " + Prefix + "3.1.1."})
	if allowed != nil {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		err = &rest.Problem{Status: http.StatusMethodNotAllowed, Message: "This path does not take the method " + r.Method + "."}
	}
	s.REST.Observe("unmatched "+Prefix, format, func(http.ResponseWriter, *http.Request, *rest.Call) (any, error) {
		return nil, err
	}).ServeHTTP(w, r)
}

// parameter is the placeholder for an identifier in a route's path.
const parameter = "{id}"

func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, have, func(w, h string) bool { return w == h || w == parameter })
}

// changes has the changes by method, for the audit log.
var changes = map[string]rest.Change{
	http.MethodPost: {Operation: "createOpenADRObject"}, http.MethodPut: {Operation: "updateOpenADRObject"}, http.MethodDelete: {Operation: "deleteOpenADRObject"},
}

// operate authorizes the caller and runs the operation.
func (s *server) operate(rt *route, r *http.Request, c *rest.Call) (any, error) {
	req := &request{Request: r, Call: c}
	if !rt.open {
		var err error
		if req.caller, err = s.authenticate(r, c); err != nil {
			return nil, err
		}
		mayAsk := rt.ven && req.caller.Allows(storage.ScopeVEN)
		if req.caller.business { // a key with both scopes has this role
			mayAsk = rt.business
		}
		if !mayAsk {
			return nil, errRole
		}
		c.Change = changes[rt.method]
		c.Change.Kind, _, _ = strings.Cut(rt.path, "/")
		if rt.method == http.MethodPost || rt.method == http.MethodPut { // a deletion makes room
			if err := s.CheckHistory(req.caller.OrganizationID); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if req.query, err = url.ParseQuery(r.URL.RawQuery); err != nil { // a filter that is left out would widen the list
		return nil, rest.Invalid("query", "must be percent-encoded: "+err.Error())
	}
	var kind string
	segments := strings.Split(rt.path, "/")
	if i := slices.Index(segments, parameter); i > 0 {
		kind = strings.TrimSuffix(segments[i-1], "s")
		req.id = strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")[i+1]
		if !storage.ValidID(req.id) {
			return nil, rest.Invalid("id", storage.BadID)
		}
		c.ID = req.id
	}
	// As in the other operations, a disconnect does not cancel a write.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.REST.Options.Timeout)
	defer cancel()
	req.Request = r.WithContext(ctx)
	result, err := rt.run(req)
	if errors.Is(err, errGone) {
		err = gone(kind, req.id)
	}
	return result, err
}

// body decodes a request's body by a schema. It may be repeated. Errors: *rest.Problem,
// *storage.InvalidError, and see rest.Server.ReadBody and Decode.
func (s *server) body(r *request, into any, sch *schema.Schema) error {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return &rest.Problem{Status: http.StatusUnsupportedMediaType, Message: "The body must be application/json."}
	}
	if r.data == nil {
		r.Request.Body = http.MaxBytesReader(nil, r.Request.Body, MaxBody)
		if r.data, err = s.REST.ReadBody(r.Request, r.Call, MaxBody); err != nil {
			return err
		}
		if s.REST.SlowBody(r.Call) {
			if key, err := s.REST.LiveKey(r.caller.ID, s.Store.Now()); key == nil {
				return cmp.Or(err, error(errToken))
			}
		}
	}
	const maxDepth = 32
	var p rest.FieldErrors
	err = s.REST.Decode(r.Context(), r.Call, r.data, func() {
		wrong, _ := schema.Decode(r.data, into, sch, "body", maxDepth)
		p.Add(wrong)
	})
	return cmp.Or(err, p.Err())
}

// problem is the error body of the OpenADR document.
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`
	// Error is the error code of RFC 6749 in responses to token requests.
	Error string `json:"error,omitempty"`
}

// oauthError is the refusal of a token request with its code in RFC 6749.
type oauthError struct {
	code string
	*rest.Problem
}

func (e *oauthError) Unwrap() error { return e.Problem }

// format encodes values and errors as the OpenADR document requires.
var format = rest.Format{Value: shownValue, Problem: shownProblem}

func shownValue(value any) (status int, shown any) {
	if c, ok := value.(created); ok {
		return http.StatusCreated, c.value
	}
	return http.StatusOK, value
}

func shownProblem(h http.Header, requestID string, p *rest.Problem, err error) any {
	shown := problem{"about:blank", http.StatusText(p.Status), p.Status, p.Message, "urn:gridhook:request:" + requestID, ""}
	for i, f := range p.Fields {
		shown.Detail += []string{" ", "; "}[min(i, 1)] + f.Field + ": " + f.Message
	}
	if p.Fields == nil && p.Recovery != "" {
		shown.Detail += " " + p.Recovery
	}
	challenge := "Bearer"
	if refused, ok := errors.AsType[*oauthError](err); ok {
		shown.Error, challenge = refused.code, `Basic realm="OpenADR"`
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", challenge)
	}
	return shown
}
