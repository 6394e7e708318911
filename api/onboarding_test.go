package api_test

import (
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// An import takes no more steps than a user can complete. A flow that an earlier version
// stored beyond the maximum still ends.
func TestOnboarding_MaximumStep(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	a := e.importLines(`{"resource":"onboarding","organizationId":"acme","homeId":"home1","status":"IN_PROGRESS","step":1001}`)
	if a.object(t)["failed"] != 1.0 || !strings.Contains(string(a.body), `"step"`) {
		t.Errorf("the import of step 1001 gets %s", a.body)
	}
	e.load(`{"resource":"onboarding","organizationId":"acme","homeId":"home1","status":"IN_PROGRESS","step":1000}`)
	_, err := storage.Update(t.Context(), e.store, storage.KindOnboarding.Ref("acme", "home1"), func(o *storage.Onboarding) error {
		o.Step = 2000
		return nil
	})
	must(t, err)
	if o := e.ask(acme, "/v1/onboarding/step/complete", `{"homeId":"home1","completed":true}`).ok(t); o["status"] != "COMPLETED" || o["step"] != 1000.0 {
		t.Errorf("the last step gets %v", o)
	}
}
