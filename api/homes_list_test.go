package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// A partner lists and searches the homes of its own organization.
func TestHomes_Search(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	e.load(
		`{"resource":"home","organizationId":"acme","id":"lake_1","name":"At the Lake","zipcode":"60614","ratePlanId":"plan_1"}`,
		`{"resource":"home","organizationId":"acme","id":"lake_2","streetAddress":"1 Lake Street","zipcode":"60615","ratePlanId":"plan_2"}`,
		`{"resource":"home","organizationId":"acme","id":"hill_1","userId":"ada@example.com","zipcode":"60614"}`,
		`{"resource":"home","organizationId":"bolt","id":"lake_3","zipcode":"60614"}`,
	)
	for _, tt := range []struct{ key, body, want string }{
		{acme, `{"search":"LAKE"}`, "lake_1 lake_2"},
		{acme, `{"search":"60614"}`, "hill_1 lake_1"},
		{acme, `{"search":"ada@"}`, "hill_1"},
		{acme, `{"search":"lake","ratePlanId":"plan_2"}`, "lake_2"},
		{acme, `{"search":"lake_3"}`, ""},
		{acme, `{"search":"lake","limit":1,"after":"lake_1"}`, "lake_2"},
		{bolt, `{"search":"lake"}`, "lake_3"},
	} {
		var got []string
		for _, home := range e.ask(tt.key, "/v1/homes/list", tt.body).ok(t)["data"].([]any) {
			got = append(got, home.(map[string]any)["id"].(string))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s lists %v, want %s", tt.body, got, tt.want)
		}
	}
	if a := e.ask(e.key("acme", storage.ScopeTrigger), "/v1/homes/list", ""); a.status != http.StatusForbidden {
		t.Errorf("without the scope read the status is %d", a.status)
	}
}

// A search looks at a limited number of homes in each request. Its pages then list each
// home once.
func TestHomes_SearchInPages(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	const homes = 10_500
	lines := make([]string, homes)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"resource":"home","organizationId":"acme","id":"h%05d","name":"%s"}`, i, []string{"lake", "hill"}[i%2])
	}
	for part := range slices.Chunk(lines, 3000) {
		e.load(part...)
	}
	var got []string
	after, pages := "", 0
	for more := true; more; pages++ {
		page := e.ask(acme, "/v1/homes/list", fmt.Sprintf(`{"search":"h10499"%s}`, after)).ok(t)
		for _, home := range page["data"].([]any) {
			got = append(got, home.(map[string]any)["id"].(string))
		}
		next, ok := page["next"].(string)
		after, more = fmt.Sprintf(`,"after":%q`, next), ok
	}
	if pages != 2 || len(got) != 1 || got[0] != "h10499" {
		t.Errorf("%d pages list %v, want 2 with h10499", pages, got)
	}
}

// A partner lists the devices of a home or of its organization. Deleted devices and those of
// others are absent.
func TestDevices_List(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	e.load(
		`{"resource":"home","organizationId":"acme","id":"lake"}`,
		`{"resource":"home","organizationId":"acme","id":"lake_2"}`,
		`{"resource":"home","organizationId":"acme","id":"empty"}`,
		`{"resource":"home","organizationId":"bolt","id":"lake"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"attic","homeId":"lake"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"cellar","homeId":"lake_2"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"gone","homeId":"lake","deleted":true}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"hall","homeId":"lake","linked":false}`,
		`{"resource":"hvacDevice","organizationId":"bolt","deviceId":"stable","homeId":"lake"}`,
	)
	for _, tt := range []struct{ key, body, want, next string }{
		{acme, `{"homeId":"lake"}`, "attic hall", ""},
		{acme, `{"homeId":"lake","limit":1}`, "attic", "attic"},
		{acme, `{"homeId":"lake","limit":1,"after":"attic"}`, "hall", ""},
		{acme, "", "attic cellar hall", ""},
		{acme, `{"homeId":"empty"}`, "", ""},
		{bolt, `{"homeId":"lake"}`, "stable", ""},
	} {
		page := e.ask(tt.key, "/v1/devices/hvac/list", tt.body).ok(t)
		var got []string
		for _, device := range page["data"].([]any) {
			got = append(got, device.(map[string]any)["deviceId"].(string))
		}
		next, _ := page["next"].(string)
		if strings.Join(got, " ") != tt.want || next != tt.next {
			t.Errorf("%s lists %v and then %q, want %s and %q", tt.body, got, next, tt.want, tt.next)
		}
	}
}

// A changed zipcode sets the time zone of a home that has none, or that of the former zipcode.
// It replaces no time zone of the same request.
func TestHomes_UpdateZipcode(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	e.load(`{"resource":"home","organizationId":"acme","id":"far","zipcode":"00001"}`)
	for _, tt := range []struct{ body, want string }{
		{`{"organizationId":"acme","name":"Far"}`, ""},
		{`{"organizationId":"acme","zipcode":"60614"}`, "America/Chicago"},
		{`{"organizationId":"acme","zipcode":"94110"}`, "America/Los_Angeles"},
		{`{"organizationId":"acme","zipcode":"60614","timezone":"America/Los_Angeles"}`, "America/Los_Angeles"},
		{`{"organizationId":"acme","timezone":"America/Denver"}`, "America/Denver"},
		{`{"organizationId":"acme","zipcode":"10001"}`, "America/Denver"},
	} {
		if got := e.operate("/v1/admin/homes/far/update", tt.body).ok(t); got["timezone"] != tt.want {
			t.Errorf("%s makes the time zone %v, want %q", tt.body, got["timezone"], tt.want)
		}
	}
}
