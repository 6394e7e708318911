package importer

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// newImporter returns an importer on an empty store.
func newImporter() (*importer, *storagetest.Log) {
	store, log, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	return &importer{Deps: Deps{Store: store}, now: storagetest.Start, report: wire.Imported{}}, log
}

// withSecret is a line whose endpoint gets a generated secret.
type withSecret struct{ id, url string }

func (l withSecret) prepare(c *check) storage.Entity {
	e := storage.NewWebhookEndpoint("acme")
	e.ID, e.URL, e.Secrets = l.id, l.url, []storage.SealedSecret{{Sealed: "sealed"}}
	c.l.secret = "secret of " + l.url
	return &e
}

// TestImport_SecretsOfCutImport checks that the response to an import that was cut off has
// the secrets of stored endpoints. No later response has them.
func TestImport_SecretsOfCutImport(t *testing.T) {
	im, log := newImporter()
	writes := 0
	log.Intercept(func(storage.Write) error {
		if writes++; writes > 1 {
			return storage.ErrUnavailable
		}
		return nil
	})
	// The second line of an endpoint begins another batch, which is refused.
	err := im.store(t.Context(), []*pending{
		{number: 1, line: withSecret{"ep", "https://acme.example/1"}}, {number: 2, line: withSecret{"ep", "https://acme.example/2"}},
	})
	if secrets := im.report.Secrets; err != nil || len(secrets) != 1 || secrets[0].Secret != "secret of https://acme.example/1" || !im.cut {
		t.Errorf("%v, cut %t, the secrets are %+v", err, im.cut, secrets)
	}
	if r := im.report; r.Created != 1 || r.Failed != 1 || len(r.Errors) != 1 || r.Errors[0].Line != 2 {
		t.Errorf("the report is %+v", r)
	}
}
