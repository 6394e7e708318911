package openadr

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// business returns a request of acme's business logic at the start of a test.
func business(ctx context.Context, method, id string) *request {
	key := &storage.Key{ID: "key_1"}
	key.OrganizationID = "acme"
	r := httptest.NewRequestWithContext(ctx, method, Prefix+"3.1.1/programs/"+id, nil)
	return &request{Request: r, Call: &rest.Call{Now: storagetest.Start}, caller: caller{Key: key, business: true}, id: id}
}

func object(of storage.OpenADRType, id, parent string) *storage.OpenADRObject {
	o := &storage.OpenADRObject{ID: id, Type: of, Parent: parent, Body: []byte(`{}`)}
	o.OrganizationID = "acme"
	return o
}

// TestRemove_CreatedMeanwhile checks that a resource that is created during the deletion of
// its VEN is deleted too. The client's next VEN has the same identifier.
func TestRemove_CreatedMeanwhile(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	ven := object(storage.OpenADRVEN, storage.VENID("key_9"), "")
	ven.ClientID = "key_9"
	storagetest.Put(t, store, ven)
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	log.Intercept(func(w storage.Write) error {
		if w.Ref != ven.Ref() {
			return nil
		}
		log.Intercept(nil)
		resource := object(storage.OpenADRResource, storage.NewResourceID(ven.ID, storagetest.Start), ven.ID)
		resource.ClientID, resource.Targets = "key_9", []string{"group"}
		return store.Create(t.Context(), resource)
	})
	vens := slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == "vens" })
	if _, err := s.remove(kinds()[vens], business(t.Context(), http.MethodDelete, ven.ID)); err != nil {
		t.Fatal(err)
	}
	again := object(storage.OpenADRVEN, ven.ID, "")
	again.ClientID = "key_9"
	if err := store.Replace(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	granted, err := storage.Query(store, func(v storage.View) (map[string]bool, error) { return storage.Granted(v, "acme", "key_9") })
	if len(granted) > 0 || err != nil {
		t.Errorf("the new VEN has the targets %v of the deleted one, error %v", granted, err)
	}
}

// TestCreate_DeletedMeanwhile checks that a client can create its VEN again while the record
// of the deleted one is removed. Both have the same identifier.
func TestCreate_DeletedMeanwhile(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	ven := object(storage.OpenADRVEN, storage.VENID("key_1"), "")
	ven.ClientID, ven.Removed = "key_1", true
	storagetest.Put(t, store, ven)
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		return store.Delete(t.Context(), ven.Ref())
	})
	k := *kinds()[slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == "vens" })]
	k.decode = func(_ *server, _ *request, o *storage.OpenADRObject) error {
		o.ID, o.ClientID, o.Body = ven.ID, "key_1", []byte(`{}`)
		return nil
	}
	if _, err := s.create(&k, business(t.Context(), http.MethodPost, "")); err != nil {
		t.Errorf("the new VEN: %v", err)
	}
}

// TestRemove_RepeatAfterFailure checks that a repeat of a deletion that was cut off deletes
// the remaining children.
func TestRemove_RepeatAfterFailure(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	storagetest.Put(t, store, object(storage.OpenADRProgram, "p", ""), object(storage.OpenADREvent, "e1", "p"), object(storage.OpenADREvent, "e2", "p"))
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	programs := kinds()[0]
	writes := 0
	log.Intercept(func(storage.Write) error {
		if writes++; writes == 2 {
			return storage.ErrUnavailable
		}
		return nil
	})
	for _, want := range []error{storage.ErrUnavailable, nil, errGone} {
		if _, err := s.remove(programs, business(t.Context(), http.MethodDelete, "p")); !errors.Is(err, want) {
			t.Errorf("the deletion returned %v, want %v", err, want)
		}
	}
	for _, id := range []string{"e1", "e2"} {
		if e, err := storage.Get[storage.OpenADRObject](store, storage.OpenADRRef(storage.OpenADREvent, "acme", id)); err != nil || !e.Removed {
			t.Errorf("%s is not removed: %v", id, err)
		}
	}
}

// unreadable is a replica whose rate plans cannot be read.
type unreadable struct{ *storagetest.Replica }

func (r unreadable) View(fn func(storage.View) error) error {
	return r.Replica.View(func(v storage.View) error { return fn(withoutPlans{v}) })
}

type withoutPlans struct{ storage.View }

func (v withoutPlans) Scan(kind storage.Kind, org, after string, fn func(storage.Record) bool) error {
	if kind == storage.KindRatePlan {
		return storage.ErrUnavailable
	}
	return v.View.Scan(kind, org, after, fn)
}

// TestRemove_UnreadablePlan checks that a failed read is not taken for a program that is
// derived from a rate plan and cannot be written.
func TestRemove_UnreadablePlan(t *testing.T) {
	_, log, replica := storagetest.NewStore(func() time.Time { return storagetest.Start })
	store := storage.NewStore(log, unreadable{replica}, func() time.Time { return storagetest.Start })
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	_, err := s.remove(kinds()[0], business(t.Context(), http.MethodDelete, "p"))
	if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, errDerived) {
		t.Errorf("got %v, want only %v", err, storage.ErrUnavailable)
	}
}

// heldBody is a body that calls before when its first byte is read.
type heldBody struct {
	io.Reader
	before func()
}

func (b *heldBody) Read(p []byte) (int, error) {
	if b.before != nil {
		b.before()
		b.before = nil
	}
	return b.Reader.Read(p)
}

// TestUpdate_KeyEndsDuringBody checks that a key that ends while its client sends a body
// changes nothing.
func TestUpdate_KeyEndsDuringBody(t *testing.T) {
	now := storagetest.Start
	store, _, _ := storagetest.NewStore(func() time.Time { return now })
	program := object(storage.OpenADRProgram, "program_1", "")
	key := &storage.Key{ID: "key_1", Scopes: []storage.Scope{storage.ScopeBusiness}}
	key.OrganizationID = "acme"
	storagetest.Put(t, store, program, key)
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	for _, want := range []error{nil, errToken} {
		r := business(t.Context(), http.MethodPut, program.ID)
		r.Now = now
		r.Header.Set("Content-Type", "application/json")
		r.Request.Body = io.NopCloser(&heldBody{strings.NewReader(`{"programName":"new"}`), func() {
			now = now.Add(time.Second)
			if want == nil {
				return
			}
			if err := store.Delete(t.Context(), key.Ref()); err != nil {
				t.Error(err)
			}
		}})
		if _, err := s.update(kinds()[0], r); !errors.Is(err, want) {
			t.Errorf("the error is %v, want %v", err, want)
		}
	}
}

// TestUpdate_ChangeDuringBody checks that a VEN whose body arrives slowly does not undo
// what business logic changes meanwhile.
func TestUpdate_ChangeDuringBody(t *testing.T) {
	ven := object(storage.OpenADRVEN, storage.VENID("key_1"), "")
	resource := object(storage.OpenADRResource, ven.ID+"_r", ven.ID)
	tests := []struct {
		object *storage.OpenADRObject
		body   string
	}{
		{ven, `{"objectType": "VEN_VEN_REQUEST", "venName": "new"}`},
		{resource, `{"objectType": "VEN_RESOURCE_REQUEST", "resourceName": "new", "venID": "` + ven.ID + `"}`},
	}
	for _, tt := range tests {
		t.Run(string(tt.object.Type), func(t *testing.T) {
			store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
			for _, o := range []*storage.OpenADRObject{ven, resource} {
				o.ClientID, o.Targets = "key_1", []string{"group", "secret"}
				storagetest.Put(t, store, o)
			}
			s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
			k := kinds()[slices.IndexFunc(kinds(), func(k *kind) bool { return k.of == tt.object.Type })]
			r := business(t.Context(), http.MethodPut, tt.object.ID)
			r.caller.business = false
			r.Header.Set("Content-Type", "application/json")
			r.Request.Body = io.NopCloser(&heldBody{strings.NewReader(tt.body), func() {
				_, err := storage.Update(t.Context(), store, tt.object.Ref(), func(o *storage.OpenADRObject) error {
					o.Targets = []string{"group"}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}})
			if _, err := s.update(k, r); err != nil {
				t.Fatal(err)
			}
			o, err := storage.Get[storage.OpenADRObject](store, tt.object.Ref())
			if err != nil || o.Name != "new" || !slices.Equal(o.Targets, []string{"group"}) {
				t.Errorf("the object has name %q and targets %q, %v; want the body's name and the remaining target", o.Name, o.Targets, err)
			}
		})
	}
}

// TestCreate_UnreadableBody checks that a body that cannot be read is the client's error. The
// audit log records a status of 500 and above as a possible change.
func TestCreate_UnreadableBody(t *testing.T) {
	s := &server{Deps: Deps{REST: rest.New(rest.Deps{}, rest.Options{})}}
	for want, body := range map[int]io.Reader{
		http.StatusBadRequest:            iotest.ErrReader(io.ErrUnexpectedEOF),
		http.StatusRequestTimeout:        iotest.ErrReader(os.ErrDeadlineExceeded),
		http.StatusRequestEntityTooLarge: strings.NewReader(strings.Repeat(" ", MaxBody+1)),
	} {
		r := business(t.Context(), http.MethodPost, "")
		r.Header.Set("Content-Type", "application/json")
		r.Request.Body = io.NopCloser(body)
		if _, err := s.create(kinds()[0], r); err == nil || rest.PublicProblem(err, nil).Status != want {
			t.Errorf("the error is %v, want the status %d", err, want)
		}
	}
}

// TestCreate_CompressedBody checks that a body with a Content-Encoding is refused for this
// reason, as in the other operations.
func TestCreate_CompressedBody(t *testing.T) {
	s := &server{Deps: Deps{REST: rest.New(rest.Deps{}, rest.Options{})}}
	r := business(t.Context(), http.MethodPost, "")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	r.Request.Body = io.NopCloser(strings.NewReader("\x1f\x8b"))
	if _, err := s.create(kinds()[0], r); err == nil || rest.PublicProblem(err, nil).Status != http.StatusUnsupportedMediaType {
		t.Errorf("the error is %v, want the status 415", err)
	}
}

// TestOperate_Disconnect checks that a client that leaves does not end the context of a
// write, and that the context has a timeout.
func TestOperate_Disconnect(t *testing.T) {
	s := &server{Deps: Deps{REST: &rest.Server{Options: rest.Options{Timeout: time.Minute}}}}
	left, leave := context.WithCancel(t.Context())
	leave()
	rt := &route{open: true, run: func(r *request) (any, error) {
		if _, bounded := r.Context().Deadline(); r.Context().Err() != nil || !bounded {
			t.Errorf("the context has ended: %v; it has a timeout: %t", r.Context().Err(), bounded)
		}
		return nil, nil
	}}
	if _, err := s.operate(rt, business(left, http.MethodPost, "p").Request, &rest.Call{}); err != nil {
		t.Error(err)
	}
}

// TestOperate_Missing checks that the error of a missing object names the object.
func TestOperate_Missing(t *testing.T) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{Timeout: time.Minute})}}
	rt := &route{path: "programs/" + parameter, open: true, run: func(r *request) (any, error) {
		r.caller = business(t.Context(), http.MethodGet, "p").caller
		return s.get(kinds()[0], r)
	}}
	_, err := s.operate(rt, business(t.Context(), http.MethodGet, "p").Request, &rest.Call{})
	if p := rest.PublicProblem(err, nil); p.Status != http.StatusNotFound || p.Message != `There is no program "p", or the client may not see it.` {
		t.Errorf("the error is %+v", p)
	}
}

// TestCreate_SecondVEN checks that the error of a client's second VEN names the client.
func TestCreate_SecondVEN(t *testing.T) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s := &server{Deps: Deps{Store: store, REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	vens := slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == "vens" })
	for _, name := range []string{"first", "second"} {
		r := business(t.Context(), http.MethodPost, "")
		r.Header.Set("Content-Type", "application/json")
		r.Request.Body = io.NopCloser(strings.NewReader(`{"objectType":"BL_VEN_REQUEST","clientID":"key_9","venName":"` + name + `"}`))
		_, err := s.create(kinds()[vens], r)
		if name == "first" {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if p := rest.PublicProblem(err, nil); p.Status != http.StatusConflict || p.Message != `The client "key_9" has a VEN already.` {
			t.Errorf("the error is %+v", p)
		}
	}
}

// TestCreate_MissingParent checks that the error of a missing program or event names it.
func TestCreate_MissingParent(t *testing.T) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	for path, body := range map[string]string{
		`events: names no program: "p-9"`: `{"programID":"p-9","intervals":[]}`,
		`reports: names no event: "e-9"`:  `{"eventID":"e-9","clientName":"c","resources":[]}`,
	} {
		path, want, _ := strings.Cut(path, ": ")
		r := business(t.Context(), http.MethodPost, "")
		r.Call.Now = storagetest.Start
		r.Header.Set("Content-Type", "application/json")
		r.Request.Body = io.NopCloser(strings.NewReader(body))
		k := slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == path })
		_, err := s.create(kinds()[k], r)
		if p := rest.PublicProblem(err, nil); len(p.Fields) != 1 || p.Fields[0].Message != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCreate_SameName checks that of two programs with one name, which are created at the same
// time, the first one that is stored stays.
func TestCreate_SameName(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	programs := kinds()[slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == "programs" })]
	create := func() error {
		r := business(t.Context(), http.MethodPost, "")
		r.Now, r.data = storagetest.Start, []byte(`{"programName":"Summer"}`)
		r.Header.Set("Content-Type", "application/json")
		_, err := s.create(programs, r)
		return err
	}
	var first error
	log.Intercept(func(storage.Write) error { // the second one has found no program with its name
		log.Intercept(nil)
		first = create()
		return nil
	})
	second := create()
	if problem, ok := errors.AsType[*rest.Problem](second); first != nil || !ok || problem.Status != http.StatusConflict {
		t.Errorf("first %v, second %v, want only the second refused", first, second)
	}
	var left int
	err := store.View(func(v storage.View) error {
		for record, err := range storage.Live(v, storage.KindOpenADRProgram, "acme", "") {
			if err != nil {
				return err
			}
			if o, err := storage.Decode[storage.OpenADRObject](record); err != nil || !o.Removed {
				left++
			}
		}
		return nil
	})
	if err != nil || left != 1 {
		t.Errorf("%d programs have the name, %v", left, err)
	}
}

// The damaged home of a target does not hide the programs of the other targets.
func TestList_DamagedHome(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store}, rest.Options{})}}
	program := object(storage.OpenADRProgram, "program_1", "")
	program.Targets = []string{"good"}
	storagetest.Put(t, store, program)
	if _, err := log.Append(t.Context(), storage.Write{Ref: storage.KindHome.Ref("acme", "bad"), Value: []byte(`[]`)}); err != nil {
		t.Fatal(err)
	}
	programs := slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == "programs" })
	r := business(t.Context(), http.MethodGet, "")
	r.query = url.Values{"targets": {"bad", "good"}}
	if list, err := s.list(kinds()[programs], r); err != nil || len(list.([]json.RawMessage)) != 1 {
		t.Errorf("the list is %s, %v, want program_1", list, err)
	}
}

// A list leaves out an object that does not decode, and shows the others.
func TestList_DamagedObject(t *testing.T) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	var text strings.Builder
	s := &server{Deps: Deps{Store: store, Pricer: signals.NewPricer(1), REST: rest.New(rest.Deps{Store: store, Log: slog.New(slog.NewTextHandler(&text, nil))}, rest.Options{})}}
	storagetest.Put(t, store, object(storage.OpenADRVEN, "ven_1", ""))
	if _, err := log.Append(t.Context(), storage.Write{Ref: storage.OpenADRRef(storage.OpenADRVEN, "acme", "ven_0"), Value: []byte(`{"id":7}`)}); err != nil {
		t.Fatal(err)
	}
	vens := slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == "vens" })
	list, err := s.list(kinds()[vens], business(t.Context(), http.MethodGet, ""))
	if objects, _ := list.([]json.RawMessage); err != nil || len(objects) != 1 || !strings.Contains(text.String(), "openadrVen/acme/ven_0") {
		t.Errorf("the list is %s, %v, want ven_1. The log has %s", list, err, text.String())
	}
}
