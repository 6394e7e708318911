package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// used returns when a key was last used, from the list of keys.
func (e *env) used(key string) any {
	e.t.Helper()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, key)
	for _, k := range e.operate("/v1/admin/keys/list", `{"organizationId":"acme"}`).ok(e.t)["data"].([]any) {
		if k := k.(map[string]any); k["keyId"] == id {
			return k["lastUsedAt"]
		}
	}
	e.t.Fatalf("%s is not listed", id)
	return nil
}

func TestLastUsed(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	list := "/v1/webhook/endpoints/list"
	if at := e.used(key); at != nil {
		t.Errorf("a key that was never used has the last use %v", at)
	}
	id, _, _ := storage.SplitKey(storage.KeyPrefix, key)
	e.ask(key[:len(key)-1]+"x", list, "").expect(t, 401, rest.CodeInvalidAPIKey)
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if at := e.used(key); at != nil {
		t.Errorf("a wrong secret counts as a use, at %v", at)
	}
	before := e.store.Revision()
	for range 50 {
		e.ask(key, list, "").ok(t)
	}
	if now := e.store.Revision(); now != before {
		t.Errorf("50 requests made %d writes", now-before)
	}
	must(t, e.deps.LastUsed.Flush(t.Context()))
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if now := e.store.Revision(); now != before+1 {
		t.Errorf("50 requests and two minutes made %d writes, want 1", now-before)
	}
	if at := e.used(key); at != "2026-07-01T12:07:30.000Z" {
		t.Errorf("used at %v", at)
	}
	e.pass(time.Hour)
	if a := e.operate("/v1/admin/keys/"+id+"/revoke", "").ok(t); a["lastUsedAt"] != "2026-07-01T12:07:30.000Z" {
		t.Errorf("revoked: %v", a)
	}
	e.ask(key, list, "").expect(t, 401, rest.CodeInvalidAPIKey)
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if at := e.used(key); at != "2026-07-01T12:07:30.000Z" {
		t.Errorf("a refused key counts as used, at %v", at)
	}
}

// TestLastUsed_KeepsLatest checks two API processes that each record uses.
func TestLastUsed_KeepsLatest(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	other := e.deps
	other.Registerer, other.LastUsed = nil, rest.NewLastUsed(e.store, e.deps.Log)
	second := e.serve(publicAPI(other, rest.Options{}))
	list := "/v1/webhook/endpoints/list"
	e.ask(key, list, "").ok(t)
	e.pass(time.Minute)
	e.send(request{url: second.URL + list, header: http.Header{rest.KeyHeader: {key}}}).ok(t)
	must(t, other.LastUsed.Flush(t.Context()))
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if at := e.used(key); at != "2026-07-01T12:08:30.000Z" {
		t.Errorf("used at %v", at)
	}
}

// TestLastUsed_Token checks that a request with an OpenADR access token is a use of its key.
func TestLastUsed_Token(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	e.deps.Registerer, e.deps.OpenADR = nil, true
	e.public = e.serve(publicAPI(e.deps, rest.Options{}))
	key := e.key("acme", storage.ScopeBusiness)
	subscribe := e.subscriber(key)
	e.pass(time.Minute)
	subscribe().expect(t, http.StatusCreated, "")
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if at := e.used(key); at != "2026-07-01T12:08:30.000Z" {
		t.Errorf("used at %v", at)
	}
}

// damage replaces an entity by a record that does not decode.
func (e *env) damage(ref storage.Ref) {
	e.t.Helper()
	log := e.bus.StateLog()
	was, err := log.Read(e.t.Context(), ref)
	must(e.t, err)
	_, err = log.AppendBatch(e.t.Context(), []storage.Write{{Ref: ref, Expect: was.Revision, First: was.First, At: start, Value: []byte(`{"id":7,"keyId":7,"deviceId":7,"planId":7,"ratePlanId":"damaged"}`)}})
	must(e.t, err)
	must(e.t, e.store.CatchUp(e.t.Context()))
}

// TestLastUsed_DamagedRecord checks that a record that does not decode stops no flush, and
// that the flush repairs it.
func TestLastUsed_DamagedRecord(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, bolt := e.twoTenants()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, bolt)
	e.damage(storage.KindKeyUse.Ref("bolt", id))
	for _, k := range []string{key, bolt} {
		e.ask(k, "/v1/webhook/endpoints/list", "").ok(t)
	}
	must(t, e.deps.LastUsed.Flush(t.Context()))
	if at := e.used(key); at == nil {
		t.Error("the use of the other key is lost")
	}
	if _, err := storage.Get[storage.KeyUse](e.store, storage.KindKeyUse.Ref("bolt", id)); err != nil {
		t.Error(err)
	}
}

// TestLastUsed_StoredAtStop checks that a stopping process stores all uses.
func TestLastUsed_StoredAtStop(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	e.ask(key, "/v1/webhook/endpoints/list", "").ok(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, e.deps.LastUsed.Run(ctx))
	if at := e.used(key); at == nil {
		t.Error("the use is lost")
	}
}

// TestRevocation_EveryProcess checks that each process refuses a revoked key as soon as
// its replica has the revocation. The log says how soon.
func TestRevocation_EveryProcess(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, key)
	var others []string
	var stores []*storage.Store
	for range 2 {
		process := e.process(slog.New(slog.DiscardHandler))
		others, stores = append(others, e.serve(publicAPI(process, rest.Options{})).URL), append(stores, process.Store)
	}
	ask := func(url string) int {
		return e.send(request{url: url + "/v1/webhook/endpoints/list", header: http.Header{rest.KeyHeader: {key}}}).status
	}
	for _, url := range others {
		if status := ask(url); status != http.StatusOK {
			t.Fatalf("before, %s responds %d", url, status)
		}
	}
	e.operate("/v1/admin/keys/"+id+"/revoke", "").ok(t)
	revoked := time.Now()
	for i, url := range others {
		must(t, stores[i].CatchUp(t.Context()))
		if status := ask(url); status != http.StatusUnauthorized {
			t.Errorf("%s has the revocation and responds %d", url, status)
		}
	}
	t.Logf("refused by all after %s", time.Since(revoked))
}
