package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

const schedulesPath = "/v1/webhook/schedules/"

// waitingTasks holds the scheduled tasks.
type waitingTasks struct {
	mu   sync.Mutex
	list []events.Task
	err  error
}

func (w *waitingTasks) PutTask(_ context.Context, t events.Task) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, t)
	return w.err
}

// put returns the tasks since the last call.
func (w *waitingTasks) put() []events.Task {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

func TestSchedules_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	made := e.ask(acme, schedulesPath+"create", "").ok(t)
	id := made["id"].(string)
	if !strings.HasPrefix(id, "sch_") || made["everyMinutes"] != 15.0 || made["cron"] != nil || made["timezone"] != "UTC" || made["enabled"] != true ||
		made["nextRunAt"] != "2026-07-01T12:15:00.000Z" || made["lastRunAt"] != nil || made["lastTriggerId"] != nil ||
		fmt.Sprint(made["window"]) != "map[lengthMinutes:1440 offsetMinutes:0]" {
		t.Errorf("made %v", made)
	}
	first := e.tasks.put()
	if len(first) != 1 || first[0].ID != id || first[0].OrganizationID != "acme" || !first[0].DueAt.Equal(time.Date(2026, 7, 1, 12, 15, 0, 0, time.UTC)) {
		t.Errorf("the waiting task is %+v", first)
	}

	e.pass(time.Minute)
	changed := e.ask(acme, schedulesPath+id+"/update", `{"cron":"0 6 * * *","timezone":"America/Chicago","window":{"offsetMinutes":60}}`).ok(t)
	if changed["cron"] != "0 6 * * *" || changed["everyMinutes"] != nil || changed["nextRunAt"] != "2026-07-02T11:00:00.000Z" ||
		fmt.Sprint(changed["window"]) != "map[lengthMinutes:1440 offsetMinutes:60]" {
		t.Errorf("changed to %v", changed)
	}
	second := e.tasks.put()
	if len(second) != 1 || second[0].Revision <= first[0].Revision || !second[0].DueAt.Equal(time.Date(2026, 7, 2, 11, 0, 0, 0, time.UTC)) {
		t.Errorf("the waiting task is %+v", second)
	}
	if same := e.ask(acme, schedulesPath+id+"/update", `{"description":"morning"}`).ok(t); same["cron"] != "0 6 * * *" || same["description"] != "morning" {
		t.Errorf("a change of the description changes it to %v", same)
	}
	if back := e.ask(acme, schedulesPath+id+"/update", `{"everyMinutes":60}`).ok(t); back["cron"] != nil || back["everyMinutes"] != 60.0 {
		t.Errorf("changed back to %v", back)
	}
	if follows := e.ask(acme, schedulesPath+id+"/update", `{"onPriceChange":true}`).ok(t); follows["everyMinutes"] != nil || follows["cron"] != nil ||
		follows["onPriceChange"] != true || follows["nextRunAt"] != nil {
		t.Errorf("by prices it is %v", follows)
	}
	if same := e.ask(acme, schedulesPath+id+"/update", `{"description":"prices"}`).ok(t); same["onPriceChange"] != true {
		t.Errorf("a change of the description changes it to %v", same)
	}
	if back := e.ask(acme, schedulesPath+id+"/update", `{"everyMinutes":60}`).ok(t); back["onPriceChange"] != false || back["everyMinutes"] != 60.0 {
		t.Errorf("changed back to %v", back)
	}
	e.tasks.put()
	if off := e.ask(acme, schedulesPath+id+"/update", `{"enabled":false}`).ok(t); off["nextRunAt"] != nil || len(e.tasks.put()) != 0 {
		t.Errorf("switched off it is %v", off)
	}

	for _, operation := range []string{"get", "update", "delete"} {
		e.ask(bolt, schedulesPath+id+"/"+operation, "{}").expect(t, 404, rest.CodeNotFound)
	}
	if list := e.ask(bolt, schedulesPath+"list", "").ok(t)["data"].([]any); len(list) != 0 {
		t.Errorf("another organization sees %v", list)
	}
	if list := e.ask(acme, schedulesPath+"list", "").ok(t)["data"].([]any); len(list) != 1 || list[0].(map[string]any)["id"] != id {
		t.Errorf("the list is %v", list)
	}
	e.ask(acme, schedulesPath+id+"/delete", "").ok(t)
	e.ask(acme, schedulesPath+id+"/get", "").expect(t, 404, rest.CodeNotFound)
}

func TestSchedules_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id := e.ask(key, schedulesPath+"create", "{}").ok(t)["id"].(string)
	for body, want := range map[string]string{
		`{"everyMinutes":15,"cron":"0 6 * * *"}`:                               "cron",
		`{"everyMinutes":0,"cron":"0 6 * * *"}`:                                "everyMinutes cron",
		`{"cron":""}`:                                                          "cron",
		`{"everyMinutes":15,"onPriceChange":true}`:                             "onPriceChange",
		`{"cron":"0 6 * * *","onPriceChange":true}`:                            "onPriceChange",
		`{"onPriceChange":"yes"}`:                                              "onPriceChange",
		`{"cron":"0 6 * *"}`:                                                   "cron",
		`{"cron":"0 0 31 2 *"}`:                                                "cron",
		`{"timezone":"Mars","everyMinutes":1441,"window":{"lengthMinutes":0}}`: "everyMinutes timezone window.lengthMinutes",
		`{"window":null}`:                                                      "window",
	} {
		for _, operation := range []string{"create", id + "/update"} {
			a := e.ask(key, schedulesPath+operation, body).expect(t, 400, rest.CodeValidationFailed)
			got := a.fields(t)
			for _, field := range strings.Fields(want) {
				if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+field+" ") {
					t.Errorf("%s of %s names %v, want %s", operation, body, got, want)
				}
			}
		}
	}
	reader := e.key("acme", storage.ScopeRead, storage.ScopeWrite)
	e.ask(reader, schedulesPath+"create", "{}").expect(t, 403, rest.CodeForbidden)
}

func TestSchedules_Limit(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.store.SetLimit(storage.Limit{Kind: storage.KindSchedule, Max: 2, Setting: "max-schedules"})
	key, bolt := e.twoTenants()
	first := e.ask(key, schedulesPath+"create", "{}").ok(t)["id"].(string)
	e.ask(key, schedulesPath+"create", "{}").ok(t)
	e.ask(key, schedulesPath+"create", "{}").expect(t, 409, rest.CodeConflict)
	e.ask(bolt, schedulesPath+"create", "{}").ok(t)
	e.ask(key, schedulesPath+first+"/delete", "").ok(t)
	e.ask(key, schedulesPath+"create", "{}").ok(t)
}

// A schedule is created although its next run could not be queued.
func TestSchedules_FirstRunNotQueued(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	e.tasks.err = storage.ErrUnavailable
	made := func() answer {
		return e.send(request{url: e.public.URL + schedulesPath + "create", body: "{}", header: http.Header{rest.KeyHeader: {key}, rest.IdempotencyHeader: {"k"}}})
	}
	if a, b := made().ok(t), made().ok(t); a["id"] != b["id"] {
		t.Errorf("a repeat created %v beside %v", b["id"], a["id"])
	}
	if !strings.Contains(e.log.String(), "next run not scheduled") {
		t.Error("the log does not report it")
	}
}

func TestSchedules_LastRun(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id := e.ask(key, schedulesPath+"create", "").ok(t)["id"].(string)
	stored, err := storage.Get[storage.Schedule](e.store, storage.KindSchedule.Ref("acme", id))
	must(t, err)
	run := time.Date(2026, 7, 1, 12, 15, 0, 0, time.UTC)
	w, err := stored.WindowAt(run)
	must(t, err)
	tr := events.NewScheduledTrigger(&stored, run, w, run)
	_, err = e.deps.Triggers.Accept(t.Context(), tr)
	must(t, err)
	got := e.ask(key, schedulesPath+id+"/get", "").ok(t)
	if got["lastTriggerId"] != tr.ID || got["lastRunAt"] != "2026-07-01T12:15:00.000Z" {
		t.Errorf("it shows %v", got)
	}
	if p := e.ask(key, triggerPath+"/"+tr.ID+"/get", "").ok(t); p["scheduleId"] != id {
		t.Errorf("the trigger is %v", p)
	}
}
