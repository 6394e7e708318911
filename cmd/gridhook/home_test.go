package main

import (
	"strings"
	"testing"
)

// TestHome_Warnings checks that a home that cannot be priced is stored with a warning.
func TestHome_Warnings(t *testing.T) {
	const priced = "/v1/homes/h1/price_signal"
	for _, args := range []string{"home create --org acme --id h1 --plan nosuch --zipcode 00000", "home update h1 --org acme --plan nosuch"} {
		f := newFake(t)
		stored := ok(`{"id":"h1","organizationId":"acme","ratePlanId":"nosuch","zipcode":"00000"}`)
		f.on("/v1/admin/homes/create", stored)
		f.on("/v1/admin/homes/h1/update", stored)
		f.on(priced, answer{400, `{"error_code":"VALIDATION_FAILED","message":"m","field_errors":[{"field":"ratePlanId","message":"the plan does not exist"}]}`})
		got := run(t, f, "", strings.Fields(args))
		want := "warning: the zipcode 00000 is unknown\nwarning: the home has no price signal: the plan does not exist\n"
		if got.code != 0 || got.err != want || !strings.Contains(got.out, "h1") {
			t.Errorf("%s: exit %d, it shows\n%s%s", args, got.code, got.out, got.err)
		}
		if f.newest(priced).org != "acme" {
			t.Errorf("%s: the price signal of %q was read", args, f.newest(priced).org)
		}
		f.on(priced, answer{503, `{"error_code":"UNAVAILABLE","message":"m"}`})
		if got := run(t, f, "", strings.Fields(args)); got.code != 0 || strings.Contains(got.err, "price signal") {
			t.Errorf("%s: exit %d without an answer about prices: %s", args, got.code, got.err)
		}
	}
}
