package openadr_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// audited lists the audit entries of an organization by request.
func (w *world) audited(org string) map[string]storage.AuditEntry {
	w.t.Helper()
	body := strings.NewReader(`{"organizationId":"` + org + `","limit":1000}`)
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.app.AdminURL()+"/v1/admin/audit/list", body)
	must(w.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", w.app.OperatorKeyText())
	var list struct{ Data []storage.AuditEntry }
	w.do(request, http.StatusOK, &list)
	entries := map[string]storage.AuditEntry{}
	for _, e := range list.Data {
		if _, twice := entries[e.RequestID]; twice {
			w.t.Errorf("the request %s has two entries", e.RequestID)
		}
		entries[e.RequestID] = e
	}
	return entries
}

// TestAudit_Objects checks that each change of an object has an audit entry without a
// secret. Reads and refused requests have none.
func TestAudit_Objects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type change struct {
		answer
		operation, path, role, id string
	}
	var changed []change
	var unchanged []answer
	for _, e := range entities() {
		for _, role := range e.writers {
			body := e.body(w, role, "Confidential "+role)
			created := w.want(http.StatusCreated, role, http.MethodPost, e.path, body)
			id := created.field("id")
			one := e.path + "/" + id
			unchanged = append(unchanged,
				w.want(http.StatusOK, role, http.MethodGet, one, ""),
				w.want(http.StatusBadRequest, role, http.MethodPut, one, `{}`),
				w.want(http.StatusNotFound, role, http.MethodDelete, e.path+"/none", ""))
			updated := w.want(http.StatusOK, role, http.MethodPut, one, body)
			deleted := w.want(http.StatusOK, role, http.MethodDelete, one, "")
			changed = append(changed, change{created, "create", e.path, role, id}, change{updated, "update", e.path, role, id}, change{deleted, "delete", e.path, role, id})
		}
	}
	entries := w.audited("acme")
	for _, c := range changed {
		got := entries[c.header.Get("X-Request-Id")]
		want := storage.AuditEntry{
			ID: got.ID, Time: got.Time, Client: "127.0.0.1", RequestID: c.header.Get("X-Request-Id"), OrganizationID: "acme", KeyID: w.keys[c.role],
			Operation: c.operation + "OpenADRObject", Kind: c.path, ObjectID: c.id, Status: c.status,
		}
		if got != want {
			t.Errorf("the entry is %+v, want %+v", got, want)
		}
	}
	for _, a := range unchanged {
		if e, found := entries[a.header.Get("X-Request-Id")]; found {
			t.Errorf("a request that changed nothing has the entry %+v", e)
		}
	}
	text, err := json.Marshal(entries)
	must(t, err)
	secrets := []string{"Confidential", "callback-token", w.receiver.URL}
	for role := range w.keys {
		secrets = append(secrets, w.tokens[role], w.secrets[role])
	}
	for _, secret := range secrets {
		if strings.Contains(string(text), secret) {
			t.Errorf("the audit log contains %q", secret)
		}
	}
}
