package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// entries is an audit log in memory.
type entries struct {
	storage.AuditLog
	list []storage.AuditEntry
}

func (l *entries) PutAudit(_ context.Context, e storage.AuditEntry) error {
	l.list = append(l.list, e)
	return nil
}

// audited returns a server with an audit log in memory.
func audited() (*Server, *entries) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	log := &entries{}
	explain := func(err error) *Problem {
		if errors.Is(err, storage.ErrNotErasable) {
			return ErrConflict
		}
		return nil
	}
	return New(Deps{Store: store, Audit: log, Log: slog.New(slog.DiscardHandler), Explain: explain}, Options{}), log
}

// A change that was refused is not in the audit log. A change that may have been stored is.
func TestAudit_Statuses(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want int // 0 for no entry
	}{
		"stored":       {nil, http.StatusOK},
		"refused":      {ErrExists, 0},
		"fault":        {errors.New("a fault"), http.StatusInternalServerError},
		"unavailable":  {storage.ErrUnavailable, http.StatusServiceUnavailable},
		"not erasable": {storage.ErrNotErasable, http.StatusConflict},
	} {
		s, log := audited()
		h := s.Observe("/v1/x", ownFormat, func(_ http.ResponseWriter, _ *http.Request, c *Call) (any, error) {
			c.Change = Change{Operation: "updateHome", Kind: "homes"}
			return struct{ ID string }{"home_1"}, tt.err
		})
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/x", nil))
		got := 0
		if len(log.list) > 0 {
			got = log.list[0].Status
		}
		if got != tt.want {
			t.Errorf("%s: the entries are %+v, want the status %d", name, log.list, tt.want)
		}
	}
}

// The entry of a page says who called it, from where, when, and with which request.
func TestAudit_Page(t *testing.T) {
	s, log := audited()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/backup", nil)
	r.RemoteAddr = "192.0.2.7:1234"
	s.AuditPage(r, Caller{Operator: true, KeyID: "opk_1", KeyName: "ada"}, "req_1", Change{Operation: "backup", Kind: "backups"})
	want := storage.AuditEntry{
		Time: storage.Time{Time: storagetest.Start}, KeyID: "opk_1", KeyName: "ada", Operation: "backup", Kind: "backups",
		Status: http.StatusOK, RequestID: "req_1", Client: "192.0.2.7",
	}
	if len(log.list) != 1 || log.list[0] != want {
		t.Errorf("the entries are %+v, want %+v", log.list, want)
	}
}
