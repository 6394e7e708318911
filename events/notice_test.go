package events

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

func TestNotice_Completed(t *testing.T) {
	p := Progress{
		TriggerID: "trg_01JZ2E6K8M0000000000000000", OrganizationID: "org", Status: TriggerCompleted, Homes: 3, Walked: 3,
		Outcomes:  map[Outcome]int{OutcomeDelivered: 2, OutcomeExpired: 1},
		CreatedAt: storage.Time{Time: accepted.Truncate(time.Millisecond)}, CompletedAt: storage.Time{Time: accepted.Add(time.Minute).Truncate(time.Millisecond)},
	}
	n, err := CompletedNotice(&p)
	if err != nil || n.ID != "evt_01JZ2E6K8M0000000000000000" || n.OrganizationID != "org" || !n.CreatedAt.Equal(p.CompletedAt.Time) {
		t.Fatalf("the notice is %+v, %v", n, err)
	}
	var body struct {
		Type      string
		Timestamp storage.Time
		Data      Progress
	}
	if err := json.Unmarshal(n.AppendBody(nil), &body); err != nil || body.Type != storage.EventTriggerCompleted ||
		!body.Timestamp.Equal(p.CompletedAt.Time) || body.Data.Outcomes[OutcomeExpired] != 1 {
		t.Errorf("the body is %+v, %v", body, err)
	}
	// The notice is unchanged after the wire and a task.
	attempt := NoticeAttempt{Notice: n, EndpointID: "ep", Attempt: 2}
	task, err := attempt.Task(accepted)
	var back NoticeAttempt
	if err == nil {
		err = json.Unmarshal(task.Body, &back)
	}
	if err != nil || string(back.Notice.AppendBody(nil)) != string(n.AppendBody(nil)) || back.Attempt != 2 ||
		task.ID != n.MessageID("ep") || task.ID == n.MessageID("other") || !storage.ValidID(task.ID) {
		t.Errorf("the task is %+v of %+v, %v", task, back, err)
	}
}

func TestNotice_Disabled(t *testing.T) {
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL = "ep", "https://partner.example/"
	if _, ok, err := DisabledNotice(&e); ok || err != nil {
		t.Errorf("an enabled endpoint has a notice, %v", err)
	}
	e.SetEnabled(false)
	if _, ok, err := DisabledNotice(&e); ok || err != nil {
		t.Errorf("a change by the owner has a notice, %v", err)
	}
	e.Disable(storage.DisabledGone, "it responded 410 Gone", accepted.Truncate(time.Millisecond))
	first, ok, err := DisabledNotice(&e)
	if !ok || err != nil || first.About != "ep" || !storage.ValidID(first.ID) {
		t.Fatalf("the notice is %+v, %v, %v", first, ok, err)
	}
	var d DisabledEndpoint
	if err := json.Unmarshal(first.Data, &d); err != nil || d.EndpointID != "ep" || d.Reason != storage.DisabledGone || d.DisabledAt.IsZero() {
		t.Errorf("the body is %+v, %v", d, err)
	}
	if again, _, _ := DisabledNotice(&e); again.ID != first.ID {
		t.Errorf("the same event has the identifiers %s and %s", first.ID, again.ID)
	}
	e.SetEnabled(true)
	if e.Disabled != nil {
		t.Error("after the enabling there is still a notice")
	}
	e.Disable(storage.DisabledFailing, "", accepted.Add(time.Hour))
	if later, _, _ := DisabledNotice(&e); later.ID == first.ID {
		t.Error("two disablings have one identifier")
	}
}
