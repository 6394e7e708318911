package api

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"

	"github.com/gridhook/gridhook/storage"
)

// call is one request as an operation sees it.
type call struct {
	requestID string
	// operation is the path's template.
	operation string
	// client is the address that the request came from, as far as it tells one
	// client from another. Only an open operation has it.
	client string
	// now is when the request came.
	now time.Time
	caller
	// id is the path's identifier, empty where the path has none.
	id string
	// body is the request's JSON as sent, nil when there was none.
	body []byte
	// idempotencyKey is empty where there is none, or where it has no meaning.
	idempotencyKey string
}

// router serves the routes to those whom authenticate lets in, and the documents
// of a folder to all. Paths are matched
// as they were sent, neither cleaned nor decoded: a redirect would turn a POST
// into a GET, and an encoded slash is part of an identifier, a wrong one.
func (s *server) router(authenticate authenticator, routes []Route, documents string) http.Handler {
	r, operations := mux.NewRouter().SkipClean(true).UseEncodedPath(), table{}
	for _, route := range routes {
		s.metrics.prepare(route.Path)
		operations[route.Path] = s.observe(route.Path, func(w http.ResponseWriter, r *http.Request, c *call) (any, error) {
			return s.serve(w, r, c, &route, authenticate)
		})
	}
	r.MatcherFunc(operations.match)
	s.serveDocs(r, documents)
	s.metrics.prepare(unmatched)
	r.NotFoundHandler = s.observe(unmatched, func(http.ResponseWriter, *http.Request, *call) (any, error) {
		return nil, errPath
	})
	return dispatch(r)
}

// dispatch hands a request to what a router finds for it. By itself mux first makes two
// copies of the request, for handlers that ask which route they are and with which
// variables; none does.
func dispatch(r *mux.Router) http.Handler {
	matches := sync.Pool{New: func() any { return &mux.RouteMatch{Vars: map[string]string{}} }}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		match := matches.Get().(*mux.RouteMatch)
		r.Match(request, match) // what is not found has a handler too
		handler := match.Handler
		*match = mux.RouteMatch{Vars: match.Vars} // no route has variables of mux's
		matches.Put(match)
		handler.ServeHTTP(w, request)
	})
}

// serve takes a request through the checks, in the order in which their answers
// count, and then through the operation.
func (s *server) serve(w http.ResponseWriter, r *http.Request, c *call, route *Route, authenticate authenticator) (any, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, errMethod
	}
	body, err := s.limitBody(w, r, route)
	if err != nil {
		return nil, err
	}
	if c.caller, err = authenticate(r, route, c.now); err != nil {
		return nil, err
	}
	if route.Open {
		c.client = clientAddress(r)
	}
	if err := s.admit(c, route); err != nil {
		return nil, err
	}
	if c.body, err = body.read(r, route); err != nil {
		return nil, err
	}
	ctx := &within{request: r.Context(), until: time.Now().Add(s.options.Timeout)}
	defer ctx.end()
	return s.operate(ctx, r, c, route)
}

// admit applies the key's rate and then its scopes: what is refused counts too.
func (s *server) admit(c *call, route *Route) error {
	if route.Open {
		if wait := s.addresses.take(c.client, c.now); wait > 0 {
			return errAddressRate(wait)
		}
		return nil
	}
	if c.operator {
		return nil
	}
	if wait := s.keys.take(c.keyID, c.now); wait > 0 {
		return errRate(wait)
	}
	if !c.key.Allows(route.Scope) {
		return errScope(route.Scope)
	}
	return nil
}

// operate checks the body against the operation's input and runs it.
func (s *server) operate(ctx context.Context, r *http.Request, c *call, route *Route) (any, error) {
	var p problems
	if strings.Contains(route.Path, parameter) {
		c.id = pathID(r, route)
		p.Check(storage.ValidID(c.id), "id", badID)
	}
	if (c.named || c.operator) && route.forOrganization() {
		if err := s.actFor(&c.caller, &p); err != nil {
			return nil, err
		}
	}
	if route.Idempotent {
		c.idempotencyKey = idempotencyKey(r, &p)
	}
	return route.run(ctx, s, c, &p)
}

// pathID is the path's identifier, decoded: what does not decode is no
// identifier either way. The table has matched the path with the route's.
func pathID(r *http.Request, route *Route) string {
	before, after, _ := strings.Cut(route.Path, parameter)
	path := r.URL.EscapedPath()
	encoded := path[len(before) : len(path)-len(after)]
	id, err := url.PathUnescape(encoded)
	if err != nil {
		return encoded
	}
	return id
}

// clientAddress is where a request came from: the address, or of IPv6 the /64
// that one client has to itself.
func clientAddress(r *http.Request) string {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := addr.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	const own = 64
	prefix, _ := ip.Prefix(own) // of IPv6, so it has as many bits
	return prefix.String()
}
