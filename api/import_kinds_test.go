package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// failures returns the fields that an import of one line refuses.
func (e *env) failures(line string) (names []string) {
	e.t.Helper()
	got := e.imported(line)
	for _, wrong := range got.Errors {
		for _, f := range wrong.Fields {
			names = append(names, f.Field)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// An import of OpenADR objects makes the checks of the OpenADR interface.
func TestImport_OpenADR(t *testing.T) {
	e := newEnv(t, rest.Options{})
	ven := storage.VENID("key_1")
	object := func(kind, id, more, object string) string {
		return fmt.Sprintf(`{"resource":"openadr%s","organizationId":"acme","id":"%s"%s,"object":{%s}}`, kind, id, more, object)
	}
	client := `,"clientId":"key_1"`
	program := object("Program", "program_1", "", `"programName":"Peak"`)
	callback := func(url string) string {
		return `"clientName":"c","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` + url + `"}]`
	}
	resource := `"objectType":"BL_RESOURCE_REQUEST","clientID":"key_1","resourceName":"pump","venID":"` + ven + `"`
	e.load(`{"resource":"organization","id":"acme","name":"A"}`, program, object("Subscription", "sub_1", client, callback("https://acme.example/")),
		object("Ven", ven, "", `"objectType":"BL_VEN_REQUEST","clientID":"key_1","venName":"meter"`), object("Resource", ven+"_1", "", resource))
	for _, c := range []struct {
		line  string
		wrong []string
	}{
		{program, nil},
		{object("Program", "p", "", `"programName":"P"`), []string{"id"}},
		{object("Program", "program_2", "", `"programName":"Peak"`), []string{"object"}},
		{object("Program", "program_2", "", `"programName":7`), []string{"object.programName"}},
		{object("Program", "program_2", client, `"programName":"P"`), []string{"clientId"}},
		{object("Program", "program_2", "", `"programName":"P","payloadDescriptors":[],"attributes":[{"type":"`+strings.Repeat("x", 300<<10)+`","values":[]}]`), []string{"object"}},
		{object("Event", "event_1", "", `"programID":"none","intervals":[]`), []string{"object.programID"}},
		{object("Report", "report_1", client, `"eventID":"none","clientName":"c","resources":[]`), []string{"object.eventID"}},
		{object("Report", "report_1", "", `"eventID":"none","clientName":"c","resources":[]`), []string{"clientId"}},
		{object("Subscription", "sub_1", `,"clientId":"key_2"`, callback("https://acme.example/")), []string{"clientId"}},
		{object("Subscription", "sub_1-1", client, callback("https://acme.example/")), []string{"id"}},
		{object("Subscription", "sub_2", client, callback("https://localhost/")), []string{"object.objectOperations[0].callbackUrl"}},
		{object("Ven", "ven_1", "", `"objectType":"BL_VEN_REQUEST","clientID":"key_9","venName":"m9"`), []string{"id"}},
		{object("Ven", ven, "", `"objectType":"BL_VEN_REQUEST","clientID":"key_9","venName":"m9"`), []string{"object"}},
		{object("Resource", "ven_1_1", "", strings.ReplaceAll(resource, "pump", "fan")), []string{"id"}},
		{object("Resource", ven+"_2", "", resource), []string{"object"}},
		{object("Resource", ven+"_2", "", strings.ReplaceAll(resource, ven, "ven_1")), []string{"object"}},
		{`{"resource":"openadrEvent","organizationId":"none","id":"event_1","object":{}}`, []string{"organizationId"}},
	} {
		if wrong := e.failures(c.line); !slices.Equal(wrong, c.wrong) {
			t.Errorf("%.300s: wrong fields %v, want %v", c.line, wrong, c.wrong)
		}
	}
	twice := e.imported(object("Program", "program_3", "", `"programName":"Same"`) + "\n" + object("Program", "program_4", "", `"programName":"Same"`))
	if twice.Created != 1 || twice.Failed != 1 {
		t.Errorf("two programs of one name: %+v", twice)
	}
}
