package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// newImporter returns an importer on an empty store.
func newImporter() (*importer, *storagetest.Log) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	return &importer{Deps: Deps{Store: store}, now: storagetest.Start, organizations: map[string]bool{}}, log
}

// withSecret is a line whose endpoint gets a generated secret.
type withSecret struct{ id, url string }

func (l withSecret) prepare(c *check) storage.Entity {
	e := storage.NewWebhookEndpoint("acme")
	e.ID, e.URL, e.Secrets = l.id, l.url, []storage.SealedSecret{{Sealed: "sealed"}}
	c.l.secret = "secret of " + l.id
	return &e
}

// TestImport_SecretsOfCutImport checks that the response to an import that was cut off has
// the secrets of stored endpoints. No later response has them.
func TestImport_SecretsOfCutImport(t *testing.T) {
	im, log := newImporter()
	log.Intercept(func(w storage.Write) error {
		if w.ID == "last" {
			return storage.ErrUnavailable
		}
		return nil
	})
	var lines []*pending
	for i := range storage.MaxBatch {
		lines = append(lines, &pending{number: i + 1, line: withSecret{fmt.Sprint("ep", i), "https://acme.example/hooks"}})
	}
	lines = append(lines, &pending{number: storage.MaxBatch + 1, line: withSecret{"last", "https://acme.example/hooks"}})
	err := im.store(t.Context(), lines)
	if secrets := im.report.Secrets; err != nil || len(secrets) != storage.MaxBatch || secrets[0].Secret != "secret of ep0" || !im.cut {
		t.Errorf("%v, cut %t, %d secrets", err, im.cut, len(secrets))
	}
	if r := im.report; r.Created != storage.MaxBatch || r.Failed != 1 || len(r.Errors) != 1 || r.Errors[0].ID != "last" {
		t.Errorf("%d created, errors %+v", r.Created, r.Errors)
	}
}

// TestImport_ConcurrentRotation checks that an import keeps the secret of a rotation that
// happened after the import read the endpoint.
func TestImport_ConcurrentRotation(t *testing.T) {
	im, log := newImporter()
	im.byKind = map[storage.Kind][]*pending{}
	im.MaxLine = 1 << 10
	im.Decode = func(text []byte, dst any, _ string) ([]storage.FieldError, bool) {
		return nil, json.Unmarshal(text, dst) == nil
	}
	im.Configure = func(in *wire.EndpointSettings, e, _ *storage.WebhookEndpoint, _ *rest.FieldErrors) error {
		e.EndpointSettings = in.EndpointSettings
		return nil
	}
	stored := storage.NewWebhookEndpoint("acme")
	stored.ID, stored.URL, stored.Secrets = "ep", "https://acme.example/old", []storage.SealedSecret{{Sealed: "first"}}
	organization := &storage.Organization{ID: "acme", Name: "Acme"}
	organization.OrganizationID = storage.Shared
	storagetest.Put(t, im.Store, organization, &stored)
	log.Intercept(func(storage.Write) error {
		log.Intercept(nil)
		_, err := storage.Update(t.Context(), im.Store, stored.Ref(), func(e *storage.WebhookEndpoint) error {
			e.Secrets = []storage.SealedSecret{{Sealed: "rotated"}, {Sealed: "first"}}
			return nil
		})
		return err
	})
	im.read(1, []byte(`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep","url":"https://acme.example/new"}`))
	err := im.store(t.Context(), im.byKind[storage.KindWebhookEndpoint])
	if err != nil || im.report.Updated != 1 || len(im.report.Errors) != 0 {
		t.Errorf("%v, the report is %+v", err, im.report)
	}
	got, err := storage.Get[storage.WebhookEndpoint](im.Store, stored.Ref())
	if err != nil || got.URL != "https://acme.example/new" || len(got.Secrets) != 2 || got.Secrets[0].Sealed != "rotated" {
		t.Errorf("the endpoint is %+v, %v", got, err)
	}
}

// TestImport_HomeDeletedMeanwhile checks that an import reports the line of a home that was
// deleted after the line was checked, and stores the other lines.
func TestImport_HomeDeletedMeanwhile(t *testing.T) {
	im, log := newImporter()
	organization := &storage.Organization{ID: "acme", Name: "Acme", Base: storage.Base{OrganizationID: storage.Shared}}
	storagetest.Put(t, im.Store, organization, storagetest.Home("acme", "gone", ""), storagetest.Home("acme", "kept", ""))
	log.Intercept(func(w storage.Write) error {
		if log.Intercept(nil); w.ID != "gone" {
			return nil
		}
		return im.Store.Delete(t.Context(), storage.KindHome.Ref("acme", "gone"))
	})
	var lines []*pending
	for i, home := range []string{"gone", "kept"} {
		line := &solarLine{Solar: storage.Solar{HomeID: home, SizeKw: 5}}
		line.lineHead.OrganizationID = "acme"
		lines = append(lines, &pending{number: i + 1, line: line})
	}
	err := im.store(t.Context(), lines)
	if r := im.report; err != nil || r.Created != 1 || len(r.Errors) != 1 || r.Errors[0].ID != "gone" || r.Errors[0].Fields[0].Message != `there is no home "gone"` {
		t.Errorf("%v, the report is %+v", err, r)
	}
}

// TestExport_PageSize checks that a page of an export ends at its number of records or at its
// size, and that the next page continues after it.
func TestExport_PageSize(t *testing.T) {
	im, _ := newImporter()
	organization := &storage.Organization{ID: "acme", Name: "Acme", Base: storage.Base{OrganizationID: storage.Shared}}
	storagetest.Put(t, im.Store, organization)
	const homes = 6
	for i := range homes {
		h := storagetest.Home("acme", fmt.Sprint("home", i), "")
		h.Name = strings.Repeat("x", maxExport/4)
		storagetest.Put(t, im.Store, h)
	}
	for limit, want := range map[int][]int{100: {5, 2}, 3: {3, 3, 1}} {
		var pages []int
		for after := ""; ; {
			var lines []json.RawMessage
			err := im.Store.View(func(v storage.View) (err error) {
				lines, after, err = Export(v, "acme", after, limit, storagetest.Start)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if pages = append(pages, len(lines)); after == "" {
				break
			}
		}
		if !slices.Equal(pages, want) {
			t.Errorf("with at most %d records, the pages have %v lines, want %v", limit, pages, want)
		}
	}
}
