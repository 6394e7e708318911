package openadr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// entity is a type of objects, with its part of the conformance suite.
type entity struct {
	path string
	// body returns the request of a role, with a new name.
	body func(w *world, role, name string) string
	// writers may write, others are refused. Each writes its own objects.
	writers, refused []string
	// visible reports whether VENs see objects of others.
	visible bool
	// conflicts reports whether names or clients are unique.
	conflicts bool
	// one reports whether a role has at most one object.
	one bool
	// bad are bodies that get 400.
	bad []string
}

func (w *world) program(name string) string {
	w.t.Helper()
	list := w.want(http.StatusOK, "bl", http.MethodGet, "programs?programName="+url.QueryEscape(name), "").list()
	if len(list) == 0 {
		return w.want(http.StatusCreated, "bl", http.MethodPost, "programs", `{"programName":"`+name+`"}`).field("id")
	}
	return list[0]["id"].(string)
}

func (w *world) venOf(role string) string {
	w.t.Helper()
	if list := w.want(http.StatusOK, role, http.MethodGet, "vens", "").list(); len(list) > 0 && role != "bl" {
		return list[0]["id"].(string)
	}
	return w.want(http.StatusCreated, role, http.MethodPost, "vens", `{"objectType":"VEN_VEN_REQUEST","venName":"ven of `+role+`"}`).field("id")
}

func entities() []entity {
	const intervals = `"intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"PT1H"},"intervals":[{"id":0,"payloads":[{"type":"PRICE","values":[0.15]}]},{"id":1,"payloads":[{"type":"PRICE","values":[0.25]}]}]`
	return []entity{
		{
			path: "programs", writers: []string{"bl"}, refused: []string{"ven1"}, visible: true, conflicts: true,
			body: func(_ *world, _, name string) string {
				return `{"programName":"` + name + `","payloadDescriptors":[{"objectType":"EVENT_PAYLOAD_DESCRIPTOR","payloadType":"PRICE","units":"KWH","currency":"USD"}],"attributes":null,"unknown":1}`
			},
			bad: []string{`{}`, `{"programName":""}`, `{"programName":7}`, `[]`, `{`, `{"programName":"x","programDescriptions":[{}]}`, `{"programName":"x","attributes":[{"type":"A","values":[null]}]}`},
		},
		{
			path: "events", writers: []string{"bl"}, refused: []string{"ven1"}, visible: true,
			body: func(w *world, _, name string) string {
				return `{"programID":"` + w.program("Program1") + `","eventName":"` + name + `","priority":0,` + intervals + `}`
			},
			bad: []string{`{}`, `{"programID":"nonexistent-program-id"}`, `{"programID":"a b"}`, `{"programID":"ev","duration":"PT"}`, `{"programID":"ev","intervals":[{"id":0}]}`, `{"programID":"ev","priority":-1}`,
				`{"programID":"ev","reportDescriptors":[{"payloadType":"USAGE","startInterval":2147483648}]}`, `{"programID":"ev","reportDescriptors":[{"payloadType":"USAGE","repeat":-2147483649}]}`,
				`{"programID":"ev","payloadDescriptors":[{"objectType":"REPORT_PAYLOAD_DESCRIPTOR","payloadType":"PRICE"}]}`},
		},
		{
			path: "vens", writers: []string{"ven1", "ven2", "bl"}, conflicts: true, one: true,
			body: func(_ *world, role, name string) string {
				if role == "bl" {
					return `{"objectType":"BL_VEN_REQUEST","clientID":"client-of-bl","venName":"` + name + `","targets":["group1"]}`
				}
				return `{"objectType":"VEN_VEN_REQUEST","venName":"` + name + `"}`
			},
			bad: []string{`{}`, `{"objectType":"VEN_VEN_REQUEST"}`, `{"objectType":"OTHER","venName":"x"}`},
		},
		{
			path: "resources", writers: []string{"ven1", "ven2", "bl"}, conflicts: true,
			body: func(w *world, role, name string) string {
				if role == "bl" {
					return `{"objectType":"BL_RESOURCE_REQUEST","clientID":"` + w.keys["ven2"] + `","venID":"` + w.venOf("ven2") + `","resourceName":"` + name + `","targets":["group1"]}`
				}
				return `{"objectType":"VEN_RESOURCE_REQUEST","venID":"` + w.venOf(role) + `","resourceName":"` + name + `"}`
			},
			bad: []string{`{}`, `{"objectType":"VEN_RESOURCE_REQUEST","resourceName":"x"}`, `{"objectType":"VEN_RESOURCE_REQUEST","resourceName":"x","venID":"a b"}`},
		},
		{
			path: "reports", writers: []string{"ven1", "ven2"}, refused: []string{"bl"},
			body: func(w *world, _, name string) string {
				id := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=ev", "").list()[0]["id"].(string)
				return `{"eventID":"` + id + `","clientName":"` + name + `","resources":[{"resourceName":"meter",` + intervals + `}]}`
			},
			bad: []string{`{}`, `{"eventID":"nonexistent","clientName":"x","resources":[]}`, `{"eventID":"ev_20260701","clientName":"x","resources":[{"resourceName":"m"}]}`,
				`{"eventID":"ev_20260701","clientName":"x","resources":[],"payloadDescriptors":[{"objectType":"EVENT_PAYLOAD_DESCRIPTOR","payloadType":"USAGE"}]}`},
		},
		{
			path: "subscriptions", writers: []string{"ven1", "ven2", "bl"},
			body: func(w *world, _, name string) string {
				return `{"clientName":"` + name + `","programID":"` + w.program("Program1") + `","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` +
					w.receiver.URL + `/quiet","bearerToken":"callback-token"}]}`
			},
			bad: []string{`{}`, `{"clientName":"x","objectOperations":[]}`, `{"clientName":"x","objectOperations":[{"objects":["HOME"],"operations":["CREATE"],"callbackUrl":"https://example.com"}]}`,
				`{"clientName":"x","objectOperations":[{"objects":["EVENT"],"operations":["POST"],"callbackUrl":"https://example.com"}]}`,
				`{"clientName":"x","programID":"nonexistent","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"ftp://example.com"}]}`},
		},
	}
}

// TestConformance_Objects checks what the conformance suite requires of all objects: the
// rights of each role, conflicts, bad tokens, identifiers and bodies, methods and pages.
// each role may do, conflicts, bad tokens, bad identifiers, bad bodies, methods and pages.
func TestConformance_Objects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT)
	w.program("Program2")
	for _, e := range entities() {
		t.Run(e.path, func(t *testing.T) {
			w := *w
			w.t = t
			e.test(&w)
		})
	}
	w.topics()
	w.withoutMQTT()
	w.tokensAndServer()
	if w.document.paths != nil {
		w.damaged()
		for _, key := range w.document.missing() {
			if !slices.Contains(unreached, key) {
				t.Errorf("no response was %s", key)
			}
		}
	}
}

// unreached are the statuses of the document that no request can cause.
var unreached = []string{
	"POST /auth/token 501", "GET /auth/server 500", // the server has the first, and the second reads nothing
	// A list without matches is empty, and the lists of topics have no parameters.
	"GET /resources 404", "GET /notifiers/mqtt/topics/events 400", "GET /notifiers/mqtt/topics/programs 400", "GET /notifiers/mqtt/topics/reports 400",
	"GET /notifiers/mqtt/topics/resources 400", "GET /notifiers/mqtt/topics/subscriptions 400", "GET /notifiers/mqtt/topics/vens 400",
	// A concurrent update is repeated, and these objects have no unique name.
	"PUT /events/{eventID} 409", "PUT /reports/{reportID} 409", "PUT /subscriptions/{subscriptionID} 409",
}

func (e *entity) test(w *world) {
	ids := map[string]string{}
	for i, role := range e.writers {
		ids[role] = w.want(http.StatusCreated, role, http.MethodPost, e.path, e.body(w, role, fmt.Sprint("Name", i))).field("id")
	}
	e.conflict(w, ids)
	for _, role := range e.writers {
		e.readAndUpdate(w, role, ids[role])
	}
	first := e.writers[0]
	for _, role := range e.refused {
		body := e.body(w, role, "Refused")
		w.want(http.StatusForbidden, role, http.MethodPost, e.path, body)
		w.want(http.StatusForbidden, role, http.MethodPut, e.path+"/"+ids[first], body)
		w.want(http.StatusForbidden, role, http.MethodDelete, e.path+"/"+ids[first], "")
	}
	e.strangers(w, ids[first])
	e.badRequests(w, first, ids[first])
	for _, role := range e.writers {
		w.want(http.StatusOK, role, http.MethodDelete, e.path+"/"+ids[role], "")
		w.want(http.StatusNotFound, role, http.MethodGet, e.path+"/"+ids[role], "")
	}
	if !e.one {
		e.pages(w, first)
	}
}

// conflict checks that a used name or client is a conflict, and so is an object beyond
// the operator's limit.
func (e *entity) conflict(w *world, ids map[string]string) {
	role := e.writers[len(e.writers)-1]
	if e.conflicts {
		name := fmt.Sprint("Name", len(e.writers)-1)
		w.want(http.StatusConflict, role, http.MethodPost, e.path, e.body(w, role, name))
		id := ids[role]
		if !e.one {
			id = w.want(http.StatusCreated, role, http.MethodPost, e.path, e.body(w, role, "Another")).field("id")
			defer w.want(http.StatusOK, role, http.MethodDelete, e.path+"/"+id, "")
		} else {
			name = "Name0"
		}
		w.want(http.StatusConflict, role, http.MethodPut, e.path+"/"+id, e.body(w, role, name))
		return
	}
	var made []string
	for range 30 {
		a := w.ask(role, http.MethodPost, e.path, e.body(w, role, "Many"))
		if a.status == http.StatusConflict {
			break
		}
		made = append(made, a.field("id"))
	}
	if len(made) >= 30 {
		w.t.Errorf("%d %s were created, more than the operator allows", len(made), e.path)
	}
	for _, id := range made {
		w.want(http.StatusOK, role, http.MethodDelete, e.path+"/"+id, "")
	}
}

func (e *entity) readAndUpdate(w *world, role, id string) {
	one := e.path + "/" + id
	if list := w.want(http.StatusOK, role, http.MethodGet, e.path, "").list(); !slices.ContainsFunc(list, func(o map[string]any) bool { return o["id"] == id }) {
		w.t.Errorf("%s does not see its own %s in %v", role, id, list)
	}
	created := w.want(http.StatusOK, role, http.MethodGet, one, "").field("createdDateTime")
	updated := w.want(http.StatusOK, role, http.MethodPut, one, e.body(w, role, "Updated "+role))
	if updated.field("createdDateTime") != created || updated.field("id") != id || !strings.Contains(string(updated.body), "Updated "+role) {
		w.t.Errorf("the update is %s", updated.body)
	}
	w.want(http.StatusOK, "bl", http.MethodGet, one, "")
	for _, other := range []string{"ven1", "ven2"} {
		if other != role && role != "bl" {
			w.want(http.StatusNotFound, other, http.MethodGet, one, "")
		}
	}
	if e.visible {
		w.want(http.StatusOK, "ven1", http.MethodGet, one, "")
		w.want(http.StatusOK, "ven1", http.MethodGet, e.path, "")
	}
	w.want(http.StatusNotFound, "foreign", http.MethodGet, one, "")
}

// strangers checks that a token without a role gets 403, and a missing or invalid token
// 401.
func (e *entity) strangers(w *world, id string) {
	body := e.body(w, e.writers[0], "Stranger")
	w.tokens["none"] = "nonsense"
	for role, status := range map[string]int{"bad": http.StatusForbidden, "": http.StatusUnauthorized, "none": http.StatusUnauthorized} {
		w.want(status, role, http.MethodPost, e.path, body)
		w.want(status, role, http.MethodGet, e.path, "")
		w.want(status, role, http.MethodGet, e.path+"/"+id, "")
		w.want(status, role, http.MethodPut, e.path+"/"+id, body)
		w.want(status, role, http.MethodDelete, e.path+"/"+id, "")
	}
}

func (e *entity) badRequests(w *world, role, id string) {
	body := e.body(w, role, "Ghost")
	w.want(http.StatusNotFound, role, http.MethodGet, e.path+"/nonexistent-id-12345", "")
	w.want(http.StatusNotFound, role, http.MethodPut, e.path+"/nonexistent-id-12345", body)
	w.want(http.StatusNotFound, role, http.MethodDelete, e.path+"/nonexistent-id-12345", "")
	for _, bad := range []string{"a%20b", strings.Repeat("x", 129)} {
		w.want(http.StatusBadRequest, role, http.MethodGet, e.path+"/"+bad, "")
		w.want(http.StatusBadRequest, role, http.MethodPut, e.path+"/"+bad, body)
		w.want(http.StatusBadRequest, role, http.MethodDelete, e.path+"/"+bad, "")
	}
	for _, bad := range e.bad {
		w.want(http.StatusBadRequest, role, http.MethodPost, e.path, bad)
		w.want(http.StatusBadRequest, role, http.MethodPut, e.path+"/"+id, bad)
	}
	for _, query := range []string{"skip=-1", "skip=x", "limit=51", "limit=-1", "limit=x", "targets=a;b", "programName=%zz", "objects=EVENT&objects=HOME"} {
		w.want(http.StatusBadRequest, role, http.MethodGet, e.path+"?"+query, "")
	}
	w.want(http.StatusMethodNotAllowed, role, http.MethodPut, e.path, body)
	w.want(http.StatusMethodNotAllowed, role, http.MethodDelete, e.path, "")
	w.want(http.StatusMethodNotAllowed, role, http.MethodPost, e.path+"/"+id, body)
	w.want(http.StatusNotFound, "bl", http.MethodGet, e.path+"s", "")
	if e.path == "resources" {
		w.want(http.StatusNotFound, role, http.MethodPost, e.path, `{"objectType":"VEN_RESOURCE_REQUEST","venID":"nonexistent","resourceName":"x"}`)
	}
}

// TestConformance_Searches checks that a list has exactly the objects that match every
// parameter.
func TestConformance_Searches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program, other := w.program("One"), w.program("Two")
	timed := w.program("Timed")
	for _, year := range []string{"2020", "2100"} {
		w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"`+timed+`","intervalPeriod":{"start":"`+year+`-07-01T00:00:00Z","duration":"PT1H"},"intervals":[{"id":0,"payloads":[]}]}`)
	}
	event := w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"`+program+`","targets":["group1","granted"]}`).field("id")
	ven := w.venOf("ven1")
	for path, body := range map[string]string{
		"vens":      `{"objectType":"BL_VEN_REQUEST","clientID":"grouped","venName":"grouped","targets":["group2"]}`,
		"resources": `{"objectType":"BL_RESOURCE_REQUEST","clientID":"` + w.keys["ven1"] + `","venID":"` + ven + `","resourceName":"grouped","targets":["group2","granted"]}`,
	} {
		w.want(http.StatusCreated, "bl", http.MethodPost, path, body)
	}
	for path, body := range map[string]string{
		"reports":       `{"eventID":"` + event + `","clientName":"c1","resources":[]}`,
		"resources":     `{"objectType":"VEN_RESOURCE_REQUEST","venID":"` + ven + `","resourceName":"r1"}`,
		"subscriptions": `{"clientName":"c1","programID":"` + program + `","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` + w.receiver.URL + `/quiet"}]}`,
	} {
		w.want(http.StatusCreated, "ven1", http.MethodPost, path, body)
	}
	w.want(http.StatusBadRequest, "bl", http.MethodGet, "events?active=perhaps", "")
	for query, want := range map[string]int{
		"programs?programName=One": 1, "programs?programName=None": 0,
		"events?programID=" + program: 1, "events?programID=" + other: 0, "events?programID=" + program + "&targets=group1": 1, "events?programID=" + program + "&targets=group2": 0,
		"events?targets=group1&targets=group2": 1, // any of them
		"events?programID=" + timed:            2, "events?active=false&programID=" + timed: 2, "events?active=true&programID=" + timed: 1, "events?active=true&programID=ev": 2,
		"events?programID=ev&programName=None": 2, "events?objects=EVENT&programID=" + timed: 2, // no filters of events
		"events?programID=ev&limit=0":                     0,
		"events?targets=" + strings.Repeat("%C3%A9", 128): 0, // a target has as many characters as in a body
		"programs?targets=group1":                         0, "vens?targets=group1": 0, "resources?targets=group1": 0, "vens?targets=group2": 1, "resources?targets=group2": 1,
		"subscriptions?objects=EVENT&objects=VEN": 0,
		"reports?eventID=" + event:                1, "reports?programID=" + program: 1, "reports?programID=" + other: 0, "reports?clientName=c1": 1, "reports?clientName=c2": 0,
		"subscriptions?programID=" + program: 1, "subscriptions?programID=" + other: 0, "subscriptions?clientName=c1": 1, "subscriptions?clientName=c2": 0,
		"subscriptions?objects=EVENT": 1, "subscriptions?objects=VEN": 0,
		"vens?venName=ven%20of%20ven1": 1, "vens?venName=none": 0,
		"resources?venID=" + ven: 2, "resources?resourceName=r1": 1, "resources?resourceName=r2": 0,
	} {
		if list := w.want(http.StatusOK, "bl", http.MethodGet, query, "").list(); len(list) != want {
			t.Errorf("%s lists %d, want %d: %v", query, len(list), want, list)
		}
	}
}

// TestConformance_RoundTrip checks that written objects are read unchanged, numbers
// included.
func TestConformance_RoundTrip(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := w.program("Round")
	for path, body := range map[string]string{
		"programs": `{"programName":"PriceProgram","programDescriptions":[{"URL":"https://example.com/a"}],"intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"P3M"},
			"payloadDescriptors":[{"objectType":"EVENT_PAYLOAD_DESCRIPTOR","payloadType":"PRICE","units":"KWH","currency":"USD"}],"attributes":[{"type":"COUNTRY","values":["US"]}]}`,
		"events": `{"programID":"` + program + `","eventName":"e","priority":3,"duration":"PT2H","intervalPeriod":{"start":"2026-07-01T00:00:00Z","duration":"PT1H","randomizeStart":"PT5M"},
			"intervals":[{"id":0,"payloads":[{"type":"PRICE","values":[0.15]}]},{"id":1,"payloads":[{"type":"CURVE","values":[{"x":1,"y":2.5},true,"text"]}]}]}`,
	} {
		id := w.want(http.StatusCreated, "bl", http.MethodPost, path, body).field("id")
		var sent, read map[string]any
		must(t, json.Unmarshal([]byte(body), &sent))
		must(t, json.Unmarshal(w.want(http.StatusOK, "ven1", http.MethodGet, path+"/"+id, "").body, &read))
		for name, value := range sent {
			if !reflect.DeepEqual(read[name], value) {
				t.Errorf("%s: %s is read as %v, want %v", path, name, read[name], value)
			}
		}
	}
}

// TestConformance_Null checks that null is the same as an absent field, unless the field is
// required. Clients of typed languages send each field that they do not use as null.
func TestConformance_Null(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const period = `"intervalPeriod":{"start":null,"duration":null,"randomizeStart":null}`
	for _, c := range []struct{ role, path, body string }{
		{"bl", "programs", `{"programName":"Null","intervalPeriod":null,"programDescriptions":null,"payloadDescriptors":null,"attributes":null,"targets":null}`},
		{"bl", "events", `{"programID":"ev","eventName":null,"duration":null,"priority":null,"targets":null,"payloadDescriptors":null,"intervalPeriod":null,"intervals":null,
			"reportDescriptors":[{"payloadType":"USAGE","readingType":null,"units":null,"targets":null,"aggregate":null,"startInterval":null,"numIntervals":null,"historical":null,"frequency":null,"repeat":null,"reportIntervals":null}]}`},
		{"bl", "events", `{"programID":"ev","reportDescriptors":null,` + period + `,"intervals":[{"id":0,` + period + `,"payloads":[]}]}`},
		{"ven1", "reports", `{"eventID":"ev_20260701","clientName":"c","reportName":null,"resources":[{"resourceName":"m","intervalPeriod":null,"intervals":[]}],
			"payloadDescriptors":[{"objectType":"REPORT_PAYLOAD_DESCRIPTOR","payloadType":"USAGE","units":null,"readingType":null,"accuracy":null,"confidence":null}]}`},
		{"ven1", "subscriptions", `{"clientName":"c","programID":null,"targets":null,"objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` + w.receiver.URL + `/quiet","bearerToken":null}]}`},
		{"ven1", "vens", `{"objectType":"VEN_VEN_REQUEST","clientID":null,"venName":"v","attributes":null,"targets":null}`},
	} {
		made := w.want(http.StatusCreated, c.role, http.MethodPost, c.path, c.body)
		if strings.Contains(string(made.body), "null") {
			t.Errorf("%s: null is stored: %s", c.path, made.body)
		}
	}
	for path, body := range map[string]string{
		"programs": `{"programName":null}`,
		"events":   `{"programID":"ev","targets":[null]}`,
	} {
		w.want(http.StatusBadRequest, "bl", http.MethodPost, path, body)
	}
}

// TestConformance_Now checks that an event may start now, which the document writes as the
// zero time. Every other start is a real time.
func TestConformance_Now(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for start, status := range map[string]int{
		"0001-01-01": http.StatusCreated, "0001-01-01T00:00:00": http.StatusCreated, "0001-01-01T00:00:00Z": http.StatusCreated, "0001-01-01T00:00:00.000+00:00": http.StatusCreated,
		"2026-07-01": http.StatusBadRequest, "2026-07-01T00:00:00": http.StatusBadRequest, "2026-02-30T00:00:00Z": http.StatusBadRequest, "0001-01-02T00:00:00Z": http.StatusBadRequest,
	} {
		made := w.want(status, "bl", http.MethodPost, "events", `{"programID":"ev","intervalPeriod":{"start":"`+start+`","duration":"PT1H"}}`)
		if status == http.StatusCreated && !strings.Contains(string(made.body), `"start":"0001-01-01T00:00:00`) {
			t.Errorf("%s is stored as %s", start, made.body)
		}
	}
	if list := w.want(http.StatusOK, "ven1", http.MethodGet, "events?active=true&programID=ev&skip=2", "").list(); len(list) != 4 {
		t.Errorf("the active events are %v, want the four that start now", list)
	}
}

func (e *entity) pages(w *world, role string) {
	for i := range 3 {
		body := e.body(w, role, fmt.Sprint("Page", i))
		a := w.ask(role, http.MethodPost, e.path, body)
		for began := time.Now(); a.status == http.StatusConflict && time.Since(began) < patience; {
			a = w.ask(role, http.MethodPost, e.path, body) // a deleted object counts until its notifications are published
		}
		if a.status != http.StatusCreated {
			w.t.Fatalf("POST %s: %d %s", e.path, a.status, a.body)
		}
	}
	count := func(query string) int {
		return len(w.want(http.StatusOK, role, http.MethodGet, e.path+"?"+query, "").list())
	}
	// The requests' program limits the lists of events.
	all := count("limit=50")
	if one, none := count("limit=1"), count("limit=0"); one != 1 || none != 0 {
		w.t.Errorf("limit=1 lists %d and limit=0 %d", one, none)
	}
	if rest, one, far := count("skip=1"), count("skip=1&limit=1"), count("skip=1000"); rest != all-1 || one != 1 || far != 0 {
		w.t.Errorf("of %d, skip=1 lists %d, with limit=1 %d, and skip=1000 %d", all, rest, one, far)
	}
}

// topics checks that every path of MQTT topics has the topics that the role may subscribe
// to.
func (w *world) topics() {
	w.t.Helper()
	id, program := w.venOf("ven1"), w.program("Program1")
	all, public, own := "openadr3/acme/all/", "openadr3/acme/public/", "openadr3/acme/vens/"+id
	for _, c := range []struct {
		path    string
		bl, ven string // prefixes of the topics; "" is refused
		create  bool
	}{
		{"programs", all + "programs", public + "programs", true},
		{"programs/" + program, all + "programs/" + program, public + "programs/" + program, false},
		{"programs/" + program + "/events", all + "programs/" + program + "/events", public + "programs/" + program + "/events", true},
		{"vens/" + id, own, own, false},
		{"vens/" + id + "/events", own + "/events", own + "/events", true},
		{"vens/" + id + "/programs", own + "/programs", own + "/programs", true},
		{"vens/" + id + "/resources", own + "/resources", own + "/resources", true},
		{"events", all + "events", "", true},
		{"reports", all + "reports", "", true},
		{"subscriptions", all + "subscriptions", "", true},
		{"vens", all + "vens", "", true},
		{"resources", all + "resources", "", true},
	} {
		at := "notifiers/mqtt/topics/" + c.path
		for role, prefix := range map[string]string{"bl": c.bl, "ven1": c.ven} {
			if prefix == "" {
				w.want(http.StatusForbidden, role, http.MethodGet, at, "")
				continue
			}
			want := map[string]string{"UPDATE": prefix + "/update", "DELETE": prefix + "/delete", "ALL": prefix + "/+"}
			if c.create {
				want["CREATE"] = prefix + "/create"
			}
			var got struct{ Topics map[string]string }
			must(w.t, json.Unmarshal(w.want(http.StatusOK, role, http.MethodGet, at, "").body, &got))
			if !maps.Equal(got.Topics, want) {
				w.t.Errorf("%s: topics of %s are %v, want %v", role, c.path, got.Topics, want)
			}
		}
		w.want(http.StatusForbidden, "bad", http.MethodGet, at, "")
		w.want(http.StatusUnauthorized, "", http.MethodGet, at, "")
		if strings.Contains(c.path, "/") {
			bad := strings.Replace(strings.Replace(at, id, "a%20b", 1), program, "a%20b", 1)
			w.want(http.StatusBadRequest, "bl", http.MethodGet, bad, "")
			missing := strings.Replace(strings.Replace(at, id, "nonexistent", 1), program, "nonexistent", 1)
			w.want(http.StatusNotFound, "bl", http.MethodGet, missing, "")
		}
		if strings.HasPrefix(c.path, "vens/") {
			w.want(http.StatusNotFound, "ven2", http.MethodGet, at, "")
		}
	}
	for _, role := range []string{"ven1", "bl"} {
		if a := w.want(http.StatusOK, role, http.MethodGet, "notifiers", ""); !strings.Contains(string(a.body), `"WEBHOOK":true`) || !strings.Contains(string(a.body), `mqtt://127.0.0.1:`) {
			w.t.Errorf("the notifiers are %s", a.body)
		}
	}
	w.want(http.StatusForbidden, "bad", http.MethodGet, "notifiers", "")
}

// withoutMQTT checks that a server without MQTT names only webhooks, and has no topics.
func (w *world) withoutMQTT() {
	w.t.Helper()
	plain := newWorld(w.t)
	plain.document = w.document
	if a := plain.want(http.StatusOK, "ven1", http.MethodGet, "notifiers", ""); strings.TrimSpace(string(a.body)) != `{"WEBHOOK":true}` {
		w.t.Errorf("the notifiers are %s", a.body)
	}
	for _, path := range []string{"programs", "events", "reports", "subscriptions", "vens", "resources", "programs/ev", "vens/x/events"} {
		plain.want(http.StatusNotFound, "bl", http.MethodGet, "notifiers/mqtt/topics/"+path, "")
	}
}

func (w *world) tokensAndServer() {
	w.t.Helper()
	if a := w.want(http.StatusOK, "", http.MethodGet, "auth/server", ""); a.field("tokenURL") != w.base+"auth/token" {
		w.t.Errorf("the token's URL is %s", a.body)
	}
	good := url.Values{"grant_type": {"client_credentials"}, "client_id": {w.keys["ven1"]}, "client_secret": {"wrong"}}
	if a := w.form("auth/token", good); a.status != http.StatusUnauthorized || a.field("error") != "invalid_client" || a.header.Get("WWW-Authenticate") != `Basic realm="OpenADR"` {
		w.t.Errorf("a wrong secret gets %d %v %s", a.status, a.header, a.body)
	}
	good.Set("grant_type", "password")
	if a := w.form("auth/token", good); a.status != http.StatusBadRequest || a.field("error") != "unsupported_grant_type" {
		w.t.Errorf("another grant type gets %d %s", a.status, a.body)
	}
	if a := w.form("auth/token", nil); a.status != http.StatusBadRequest || a.field("error") != "invalid_request" {
		w.t.Errorf("an empty form gets %d %s", a.status, a.body)
	}
}

// damaged checks that an unreadable key is a server error of every operation.
func (w *world) damaged() {
	w.t.Helper()
	log, ref := w.app.StateLog(), storage.Ref{Kind: storage.KindKey, Org: "acme", ID: w.keys["bl"]}
	state, err := log.State(w.t.Context())
	must(w.t, err)
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	var revision uint64
	_ = log.Tail(ctx, 0, func(batch []storage.Record) error { // it ends with ctx
		for _, r := range batch {
			if r.Ref == ref {
				revision = r.Revision
			}
			if r.Revision >= state.Last {
				stop()
			}
		}
		return nil
	})
	_, err = log.AppendBatch(w.t.Context(), []storage.Write{{Ref: ref, Expect: revision, First: revision, Value: []byte(`{"keyId":1}`)}})
	must(w.t, err)
	for path, operations := range w.document.paths {
		path = strings.NewReplacer("{programID}", "x", "{eventID}", "x", "{reportID}", "x", "{subscriptionID}", "x", "{venID}", "x", "{resourceID}", "x").Replace(strings.TrimPrefix(path, "/"))
		for method := range operations.(map[string]any) {
			if method = strings.ToUpper(method); method != "PARAMETERS" && !strings.HasPrefix(path, "auth/") {
				w.eventually(http.StatusInternalServerError, method, path)
			}
		}
	}
	w.form("auth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {w.keys["bl"]}, "client_secret": {"secret"}})
}

// eventually repeats a request until it has a status, because the replica follows the
// log.
func (w *world) eventually(status int, method, path string) {
	w.t.Helper()
	waitFor(w.t, fmt.Sprintf("%s %s gets %d", method, path, status), func() (struct{}, bool) {
		return struct{}{}, w.ask("bl", method, path, "").status == status
	})
}
