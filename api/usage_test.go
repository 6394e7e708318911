package api_test

import (
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
)

func TestUsage(t *testing.T) {
	s := newStage(t)
	s.load(`{"resource":"organization","id":"bolt","name":"Bolt"}`)
	usage := func(org string) map[string]any {
		t.Helper()
		return s.operate("/v1/admin/organizations/"+org+"/usage", "").ok(t)
	}
	before := usage("acme")
	for field, want := range map[string]float64{"homes": 1, "devices": 1, "endpoints": 2, "schedules": 1, "keys": 1} {
		if before[field] != want {
			t.Errorf("%s is %v, want %v", field, before[field], want)
		}
	}
	if before["storedBytes"].(float64) < 1000 || before["historyBytes"].(float64) < 100 {
		t.Errorf("the sizes are %v and %v", before["storedBytes"], before["historyBytes"])
	}
	trigger := s.ask(s.key, triggerPath, `{}`).ok(t)["triggerId"].(string)
	accepted := usage("acme")
	if accepted["waitingTriggers"] != before["waitingTriggers"].(float64)+1 {
		t.Errorf("after a trigger %v wait, before it %v", accepted["waitingTriggers"], before["waitingTriggers"])
	}
	s.deliver("acme", trigger, s.endpoint, "home_1", events.OutcomeDelivered)
	if after := usage("acme"); after["deliveries"] != before["deliveries"].(float64)+1 {
		t.Errorf("after a delivery there are %v, before it %v", after["deliveries"], before["deliveries"])
	}
	for field, used := range usage("bolt") {
		if n, isNumber := used.(float64); isNumber && n != 0 {
			t.Errorf("an empty organization has %s %v", field, n)
		}
	}
	if a := s.operate("/v1/admin/organizations/none/usage", "").expect(t, 404, rest.CodeNotFound); !strings.Contains(string(a.body), `There is no organization \"none\".`) {
		t.Errorf("the response for an unknown organization is %s", a.body)
	}
}
