package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The creation of an event may be missing if its update was notified. Otherwise it is lost.
func TestCompare_OverwrittenEvents(t *testing.T) {
	for _, c := range []struct {
		name, other string
		want        int // broken invariants
	}{
		{"updated", "UPDATE event_1", 0},
		{"another event was updated", "UPDATE event_2", 1},
		{"another event was created", "CREATE event_2", 1},
	} {
		e, v := wellDone(), &violations{}
		e.triggers = append(e.triggers, request{Org: "bravo", Result: resultOK, Trigger: "CREATE event_1"}, request{Org: "bravo", Result: resultLost, Trigger: c.other})
		e.finals["CREATE event_1"] = final{err: errNoNotification}
		compare(e, v)
		if got := v.all(); len(got) != c.want || len(got) > 0 && got[0].Invariant != "I9" {
			t.Errorf("%s: broken are %v, want %d", c.name, got, c.want)
		}
	}
}

// A callback belongs to the subscription of its path, and is verified by the token of that
// subscription alone.
func TestReadCallback(t *testing.T) {
	const body = `{"objectType":"EVENT","operation":"UPDATE","object":{"id":"event_1","eventName":"delta","modificationDateTime":"1970-01-01T00:00:07.000Z"}}`
	for token, verified := range map[string]bool{"token-of-delta_00003": true, "token-of-delta_00004": false, "": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/delta/callbacks/delta_00003", strings.NewReader(body))
		r.Header.Set("Webhook-Id", "msg_1")
		r.Header.Set("Authorization", "Bearer "+token)
		a := read(&endpoint{org: "delta", name: "delta/callbacks"}, r, []byte(body))
		want := arrival{
			At: a.At, Endpoint: "delta/callbacks", ID: "msg_1", Body: a.Body, Trigger: "UPDATE event_1", Org: "delta", Home: "delta_00003", Sequence: 7000, Verified: verified,
		}
		if a != want || a.Body == "" {
			t.Errorf("with %q it reads %+v, want %+v", token, a, want)
		}
	}
}
