package openadr_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
)

// TestPrograms_Derived checks that rate plans and regions are programs, and that today
// and tomorrow are events with stable identifiers.
func TestPrograms_Derived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.want(http.StatusOK, "ven1", http.MethodGet, "programs?programName=ev", "").list()
	if len(list) != 1 || list[0]["id"] != "ev" {
		t.Fatalf("programs named ev: %v", list)
	}
	if all := w.want(http.StatusOK, "ven1", http.MethodGet, "programs", "").list(); len(all) < 10 {
		t.Errorf("%d programs, want the plan's and the regions'", len(all))
	}
	asked := time.Now()
	events := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=ev", "")
	days := events.list()
	if len(days) != 2 {
		t.Fatalf("%d events, want today's and tomorrow's: %s", len(days), events.body)
	}
	zone, err := time.LoadLocation("America/Los_Angeles")
	must(t, err)
	intervals, _ := days[0]["intervals"].([]any)
	if hours := len(intervals); hours < 23 || hours > 25 {
		t.Errorf("%d intervals in a day", hours)
	}
	start, err := time.Parse(time.RFC3339, days[1]["intervalPeriod"].(map[string]any)["start"].(string))
	must(t, err)
	if local := start.In(zone); local.Hour() != 0 || !local.After(asked) {
		t.Errorf("tomorrow's event starts at %s", local)
	}
	id := days[1]["id"].(string)
	again := w.want(http.StatusOK, "bl", http.MethodGet, "events/"+id, "")
	if created := again.field("createdDateTime"); created != days[1]["createdDateTime"] {
		t.Errorf("created %s, and before %s", created, days[1]["createdDateTime"])
	}
	if ghg := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=MOER-CA", "").list(); len(ghg) != 2 {
		t.Errorf("%d events of emissions", len(ghg))
	}
	w.want(http.StatusOK, "ven1", http.MethodGet, "programs/MOER-CA", "")
	w.want(http.StatusForbidden, "bl", http.MethodDelete, "programs/ev", "")
	w.want(http.StatusForbidden, "bl", http.MethodPut, "events/"+id, `{"programID":"ev"}`)
	w.want(http.StatusConflict, "bl", http.MethodPost, "programs", `{"programName":"ev"}`)
	if none := w.want(http.StatusOK, "foreign", http.MethodGet, "programs?programName=ev", "").list(); len(none) != 0 {
		t.Errorf("another organization sees %v", none)
	}
	w.want(http.StatusNotFound, "foreign", http.MethodGet, "events/"+id, "")
}

// TestPrograms_FlexAlert checks that a Flex Alert of a plan is an event of the plan's
// program, and that subscribers are notified of it and of its removal.
func TestPrograms_FlexAlert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("ven1", "/ven1", `"EVENT"`, allOperations, `,"programID":"ev"`)
	from := time.Now().UTC().Truncate(time.Hour).Add(3 * time.Hour)
	w.imports(fmt.Sprintf(`{"resource":"planEvent","organizationId":"acme","planId":"ev","id":"heat","kind":"FLEX_ALERT","name":"heat wave","from":%q,"to":%q}`,
		from.Format(time.RFC3339), from.Add(5*time.Hour).Format(time.RFC3339)))
	id := fmt.Sprintf("ev_%08x", from.Unix())
	sent := w.await("the alert", at("/ven1", "CREATE", id))
	read := w.want(http.StatusOK, "ven1", http.MethodGet, "events/"+id, "")
	if read.field("programID") != "ev" || fmt.Sprint(sent.Object["intervals"]) != "[map[id:0 payloads:[map[type:ALERT_FLEX_ALERT values:[heat wave]]]]]" ||
		!strings.Contains(string(read.body), `"duration":"PT5H0M0S"`) {
		t.Errorf("the alert is sent as %s and read as %s", sent.body, read.body)
	}
	if all := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=ev", "").list(); len(all) != 3 {
		t.Errorf("%d events, want two days and the alert", len(all))
	}
	w.want(http.StatusCreated, "ven1", http.MethodPost, "reports", `{"eventID":"`+id+`","clientName":"v","resources":[]}`)
	must(t, w.operator.DeletePlanEvent(t.Context(), client.PlanIDInput{PlanOwner: client.PlanOwner{OrganizationID: "acme"}, PlanID: "ev"}, "heat"))
	w.await("the removal", at("/ven1", "DELETE", id))
	w.want(http.StatusNotFound, "ven1", http.MethodGet, "events/"+id, "")
}

// TestPrograms_OwnHomes checks that a granted target with a home's id selects the program
// of the home's plan.
func TestPrograms_OwnHomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ven := w.want(http.StatusCreated, "bl", http.MethodPost, "vens",
		`{"objectType":"BL_VEN_REQUEST","clientID":"`+w.keys["ven1"]+`","venName":"v1","targets":["home_1"]}`)
	if ven.field("objectType") != "VEN" {
		t.Errorf("a VEN is %s", ven.body)
	}
	list := w.want(http.StatusOK, "ven1", http.MethodGet, "programs?targets=home_1", "").list()
	if len(list) != 1 || list[0]["id"] != "ev" {
		t.Errorf("the home's programs are %v", list)
	}
	if days := w.want(http.StatusOK, "ven1", http.MethodGet, "events?targets=home_1", "").list(); len(days) != 2 {
		t.Errorf("the home has %d events", len(days))
	}
	if none := w.want(http.StatusOK, "ven2", http.MethodGet, "programs?targets=home_1", "").list(); len(none) != 0 {
		t.Errorf("a VEN without the target sees %v", none)
	}
}

// TestPrograms_HomeSignal: the target signal/HOME asks for the home's own signal, which a VEN
// sees where business logic has granted the target.
func TestPrograms_HomeSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(http.StatusCreated, "bl", http.MethodPost, "vens",
		`{"objectType":"BL_VEN_REQUEST","clientID":"`+w.keys["ven1"]+`","venName":"v1","targets":["signal/home_1"]}`)
	days := w.want(http.StatusOK, "ven1", http.MethodGet, "events?targets=signal/home_1", "").list()
	if len(days) != 2 || days[0]["programID"] != "ev" || fmt.Sprint(days[0]["targets"]) != "[signal/home_1]" {
		t.Fatalf("the home's own signals are %v", days)
	}
	if intervals := fmt.Sprint(days[0]["intervals"]); !strings.Contains(intervals, "GHG") {
		t.Errorf("the home's own signal has no emissions: %s", intervals)
	}
	at := "events/" + days[1]["id"].(string)
	if one := w.want(http.StatusOK, "ven1", http.MethodGet, at+"?targets=signal/home_1", ""); one.field("createdDateTime") != days[1]["createdDateTime"] {
		t.Errorf("the event is read as %s", one.body)
	}
	w.want(http.StatusNotFound, "ven1", http.MethodGet, at, "")
	w.want(http.StatusNotFound, "ven2", http.MethodGet, at+"?targets=signal/home_1", "")
	w.want(http.StatusOK, "bl", http.MethodGet, at+"?targets=signal/home_1", "")
	w.want(http.StatusNotFound, "foreign", http.MethodGet, at+"?targets=signal/home_1", "")
	for role, query := range map[string]string{"ven2": "targets=signal/home_1", "ven1": "targets=signal/home_2", "bl": "targets=signal/home_1&programID=other"} {
		if none := w.want(http.StatusOK, role, http.MethodGet, "events?"+query, "").list(); len(none) != 0 {
			t.Errorf("%s sees %v with %s", role, none, query)
		}
	}
	w.want(http.StatusForbidden, "bl", http.MethodDelete, at+"?targets=signal/home_1", "")
	report := `{"eventID":"` + days[0]["id"].(string) + `","clientName":"v","resources":[]}`
	w.want(http.StatusBadRequest, "ven2", http.MethodPost, "reports", report)
	w.want(http.StatusCreated, "ven1", http.MethodPost, "reports", report)
	if list := w.want(http.StatusOK, "bl", http.MethodGet, "reports?programID=ev", "").list(); len(list) != 1 {
		t.Errorf("the program's reports are %v, want the one of the home's own signal", list)
	}
}
