package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Change is the part of an audit entry that an operation knows before it runs.
type Change struct {
	// Operation identifies the operation. Kind is the resource in its path.
	Operation, Kind string
	// Org is the organization that the request's body names, empty if it names none.
	Org string
}

// change returns what the route changes, the zero Change if it has no audit entries.
func (r *Route) change() Change {
	if r.Open || r.Unaudited || r.Needs() == storage.RoleRead {
		return Change{}
	}
	return Change{Operation: r.Name, Kind: kindIn(r.Path)}
}

// kindIn returns the resource in an operation's path: the segment before the identifier
// or before the verb.
func kindIn(path string) string {
	before, _, found := strings.Cut(path, "/"+Parameter)
	if !found {
		before = before[:strings.LastIndexByte(before, '/')]
	}
	return before[strings.LastIndexByte(before, '/')+1:]
}

// auditTimeout is how long a response waits for the audit log.
const auditTimeout = 2 * time.Second

// audit stores the audit entry of a call that changed something, or that may have: a
// status of 500 and above does not say whether the change was stored, and an organization
// that cannot be erased is hidden. A failure to store the entry does not undo the change
// and does not fail the request. The entry then goes to the process's log.
func (s *Server) audit(r *http.Request, c *Call, f Format, value any, err error) {
	if c.Change.Operation == "" {
		return
	}
	status, _ := f.Value(value)
	if err != nil {
		if status = PublicProblem(err, s.Explain).Status; status < http.StatusInternalServerError && !errors.Is(err, storage.ErrNotErasable) {
			return
		}
	}
	made, madeFor := identify(value)
	e := storage.AuditEntry{
		Time: storage.Time{Time: c.Now}, KeyID: c.KeyID, KeyName: c.KeyName, Operation: c.Change.Operation, Kind: c.Change.Kind,
		ObjectID: cmp.Or(c.ID, made), Status: status, RequestID: c.RequestID, Client: c.Client,
		OrganizationID: UnlessShared(cmp.Or(c.organization(), c.Change.Org, madeFor)),
	}
	if e.Kind == "organizations" {
		e.OrganizationID = e.ObjectID
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), auditTimeout)
	defer cancel()
	if failed := s.Audit.PutAudit(ctx, e); failed != nil {
		s.metrics.unaudited.Inc()
		s.Log.LogAttrs(r.Context(), slog.LevelError, "audit entry not stored", slog.Any("entry", e), slog.Any("error", failed))
	}
}

// AuditPage stores the audit entry of a call to a page that Operators.Only serves.
func (s *Server) AuditPage(r *http.Request, c Caller, requestID string, change Change) {
	s.audit(r, &Call{RequestID: requestID, Client: s.clientAddress(r), Now: s.Store.Now(), Caller: c, Change: change}, ownFormat, nil, nil)
}

// identify returns the identifier and the organization of the object in a response, empty
// if the response has none.
func identify(value any) (id, org string) {
	v := reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return "", ""
	}
	text := func(name string) string {
		if f := v.FieldByName(name); f.Kind() == reflect.String {
			return f.String()
		}
		return ""
	}
	return cmp.Or(text("ID"), text("TriggerID")), text("OrganizationID")
}
