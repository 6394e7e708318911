package main

import (
	"strings"
	"testing"
)

// An event triggers the homes of its plan: those of the event's organization, or of every
// organization with homes on a shared plan.
func TestAffectedHomes(t *testing.T) {
	const accepted = `{"triggerId":"trg_1","organizationId":"x","status":"ACCEPTED","homes":7}`
	for args, want := range map[string]string{
		"plan event create flat --from 1h --to 2h --adder 0.6 --trigger --org acme": "triggered 7 homes of acme: trg_1\n",
		"plan event create flat --from 1h --to 2h --adder 0.6 --trigger":            "triggered 7 homes of north: trg_1\ntriggered 7 homes of south: trg_1\n",
		"plan event create empty --from 1h --to 2h --adder 0.6 --trigger":           "no home is on plan empty: nothing to trigger\n",
		"plan event create flat --from 1h --to 2h --adder 0.6":                      "",
		"plan event delete flat e --trigger --org acme":                             "triggered 7 homes of acme: trg_1\n",
	} {
		f := newFake(t)
		f.on("/v1/admin/plan_events/create", ok(`{"id":"e","kind":"CRITICAL_PEAK","name":"","from":"2026-07-01T21:00:00.000Z","to":"2026-07-02T01:00:00.000Z"}`))
		f.on("/v1/admin/plan_events/e/delete", ok(`{"id":"e","deleted":true}`))
		f.on("/v1/admin/plans/list", ok(data(planJSON)))
		f.on("/v1/admin/organizations/list", ok(`{"data":[{"id":"north","name":"N"},{"id":"west","name":"W"},{"id":"south","name":"S"}],"next":null}`))
		f.on("/v1/webhook/price_signal/trigger", ok(accepted))
		f.on("/v1/admin/homes/list", ok(data(homeJSON)), ok(data()), ok(data(homeJSON)))
		if strings.Contains(args, "empty") {
			f.on("/v1/admin/homes/list", ok(data()))
		}
		got := run(t, f, "", strings.Fields(args))
		if got.code != 0 || got.err != want {
			t.Errorf("%s: exit %d, it says %q, want %q", args, got.code, got.err, want)
		}
		if last := f.last(); strings.Contains(want, "trg_1") && !sameJSON(t, last.body, `{"ratePlanIds":["flat"]}`) {
			t.Errorf("%s: requested %s", args, last.body)
		}
	}
}

// An organization that cannot be triggered does not stop the others.
func TestAffectedHomes_OtherOrganizations(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plan_events/e/delete", ok(`{"id":"e","deleted":true}`))
	f.on("/v1/admin/plans/list", ok(data()))
	f.on("/v1/admin/organizations/list", ok(`{"data":[{"id":"north","name":"N"},{"id":"south","name":"S"}],"next":null}`))
	f.on("/v1/admin/homes/list", answer{503, `{"error_code":"UNAVAILABLE","message":"The service cannot take this now."}`}, ok(data(homeJSON)))
	f.on("/v1/webhook/price_signal/trigger",
		answer{503, `{"error_code":"UNAVAILABLE","message":"The service cannot take this now."}`},
		ok(`{"triggerId":"trg_1","organizationId":"x","status":"ACCEPTED","homes":7}`))
	got := run(t, f, "", strings.Fields("plan event delete flat e --trigger"))
	if got.out != "e is deleted.\n" {
		t.Errorf("it shows %q", got.out)
	}
	if got.code != exitFailure || !strings.Contains(got.err, "triggered 7 homes of south: trg_1\n") || !strings.Contains(got.err, "homes of north not triggered: The service cannot take this now.\n") || !strings.Contains(got.err, "of 1 of 2 organizations are not triggered") {
		t.Errorf("exit %d, it says %q", got.code, got.err)
	}
}

// A change of a part triggers the homes of the plans that are composed with it.
func TestAffectedHomes_ComposedPlans(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plan_events/e/delete", ok(`{"id":"e","deleted":true}`))
	f.on("/v1/admin/plans/list", ok(data(`{"id":"cca","parts":[{"planId":"pge","role":"DELIVERY"},{"planId":"mce","role":"GENERATION"}]}`, planJSON)))
	f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":7}`))
	got := run(t, f, "", strings.Fields("plan event delete mce e --trigger --org acme"))
	if got.code != 0 || !sameJSON(t, f.last().body, `{"ratePlanIds":["cca","mce"]}`) {
		t.Errorf("exit %d, requested %s; %s", got.code, f.last().body, got.err)
	}
}

// A change of a shared part triggers the homes of an organization's own plans with the
// part. A page of homes may be empty before the last page.
func TestAffectedHomes_SharedPart(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plan_events/e/delete", ok(`{"id":"e","deleted":true}`))
	f.on("/v1/admin/organizations/list", ok(`{"data":[{"id":"acme","name":"A"}],"next":null}`))
	f.on("/v1/admin/plans/list", ok(data(planJSON)), ok(data(`{"id":"cca","parts":[{"planId":"pge","role":"DELIVERY"}]}`)))
	f.on("/v1/admin/homes/list", ok(`{"data":[],"next":"home_9999"}`), ok(data(homeJSON)))
	f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":7}`))
	got := run(t, f, "", strings.Fields("plan event delete pge e --trigger"))
	if got.code != 0 || !sameJSON(t, f.last().body, `{"ratePlanIds":["cca","pge"]}`) {
		t.Errorf("exit %d, requested %s; %s", got.code, f.last().body, got.err)
	}
}
