package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestTrigger(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	got := e.ask(acme, "/v1/webhook/price_signal/trigger", `{}`).ok(t)
	if got["status"] != "ACCEPTED" || got["homes"] != 1.0 || got["organizationId"] != "acme" ||
		got["startTime"] != "2026-07-01T12:00:00.000Z" || got["endTime"] != "2026-07-02T12:00:00.000Z" ||
		got["createdAt"] != "2026-07-01T12:07:30.000Z" {
		t.Errorf("response %v", got)
	}
	id := got["triggerId"].(string)
	progress := e.ask(acme, "/v1/webhook/price_signal/trigger/"+id+"/get", "").ok(t)
	if progress["triggerId"] != id || progress["status"] != "ACCEPTED" {
		t.Errorf("progress is %v", progress)
	}
	e.ask(bolt, "/v1/webhook/price_signal/trigger/"+id+"/get", "").expect(t, 404, rest.CodeNotFound)
	if list := e.ask(acme, "/v1/webhook/price_signal/trigger/list", "").ok(t)["data"].([]any); len(list) != 1 {
		t.Errorf("lists %v", list)
	}
	if page := e.ask(acme, "/v1/webhook/deliveries/list", `{"triggerId":"`+id+`"}`).ok(t); len(page["data"].([]any)) != 0 || page["next"] != nil {
		t.Errorf("deliveries are %v", page)
	}
	e.ask(bolt, "/v1/webhook/deliveries/list", `{"triggerId":"`+id+`"}`).expect(t, 404, rest.CodeNotFound)
	signal := e.ask(acme, "/v1/homes/home1/price_signal", "").ok(t)
	if len(signal["data"].([]any)) != 96 {
		t.Errorf("signal has %d", len(signal["data"].([]any)))
	}
}

// A trigger can be limited to the homes of some plans.
func TestTrigger_Plans(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	for plans, want := range map[string]float64{`["plan_of_nobody"]`: 0, `["plan1","plan_of_nobody"]`: 1, `[]`: 1} {
		got := e.ask(acme, "/v1/webhook/price_signal/trigger", `{"ratePlanIds":`+plans+`}`).ok(t)
		if got["homes"] != want {
			t.Errorf("%s: response %v, want %g homes", plans, got, want)
		}
	}
	e.damage(storage.KindHome.Ref("acme", "home1"))
	if got := e.ask(acme, "/v1/webhook/price_signal/trigger", `{"ratePlanIds":["damaged"]}`).ok(t); got["homes"] != 1.0 {
		t.Errorf("response %v, want 1 damaged home", got)
	}
	e.ask(acme, "/v1/webhook/price_signal/trigger", `{"ratePlanIds":["plan1","no plan"]}`).expect(t, 400, rest.CodeValidationFailed)
}

// A trigger has the homes that another process stored before it. If the replica lags for
// long, nothing is accepted.
func TestTrigger_LaggingReplica(t *testing.T) {
	for name, test := range map[string]struct {
		lag    time.Duration
		status int
		want   string
	}{
		"short": {time.Second, http.StatusOK, `"homes":2,`},
		"long":  {time.Minute, http.StatusServiceUnavailable, rest.ErrUnavailable.Message},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				time.AfterFunc(test.lag, m.replica.Hold())
				other := storage.NewStore(m.log, m.log.Replica(), time.Now)
				storagetest.Put(t, other, storagetest.Home("acme", "home2", "plan"))
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/webhook/price_signal/trigger", strings.NewReader(`{}`))
				r.Header = operator("application/json")
				w := httptest.NewRecorder()
				m.admin.ServeHTTP(w, r)
				if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
					t.Errorf("response %d %s, want %d with %s", w.Code, w.Body, test.status, test.want)
				}
			})
		})
	}
}

// laggingLog stores one trigger, which its readers receive a moment later.
type laggingLog struct {
	nothing
	stored chan events.Trigger
}

func (l laggingLog) Accept(_ context.Context, t events.Trigger) (uint64, error) {
	t.Sequence = 1
	l.stored <- t
	return t.Sequence, nil
}

func (laggingLog) Streams(context.Context) (events.Streams, error) {
	return events.Streams{Identity: "log"}, nil
}

func (l laggingLog) TailTriggers(ctx context.Context, _ uint64, apply func([]events.Sequenced[events.Trigger]) error) error {
	t := <-l.stored
	time.AfterFunc(time.Second/2, func() { _ = apply([]events.Sequenced[events.Trigger]{{Value: t, Sequence: t.Sequence}}) })
	<-ctx.Done()
	return nil
}

func (laggingLog) TailReceipts(ctx context.Context, _ uint64, _ func([]events.Sequenced[events.Receipt]) error) error {
	<-ctx.Done()
	return nil
}

// A trigger is accepted before the ledger shows it. Queries of the trigger wait for that.
func TestTrigger_LaggingLedger(t *testing.T) {
	for path, body := range map[string]string{
		"price_signal/trigger/ID/get": `{}`, "price_signal/trigger/list": `{}`, "deliveries/list": `{"triggerId":"ID"}`,
	} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := laggingLog{stored: make(chan events.Trigger, 1)}
				m := newMemory(t, func(d *api.Deps) {
					go func() { _ = d.Ledger.Follow(t.Context(), log) }()
					d.Triggers = d.Ledger.Log(log)
				})
				began := time.Now()
				ask := func(path, body string) (int, map[string]any) {
					return m.ask(t, m.admin, "/v1/webhook/"+path, body, operator("application/json"))
				}
				_, trigger := ask("price_signal/trigger", `{}`)
				if took := time.Since(began); took != 0 {
					t.Errorf("response after %s", took)
				}
				withID := strings.NewReplacer("ID", trigger["triggerId"].(string))
				status, got := ask(withID.Replace(path), withID.Replace(body))
				if took := time.Since(began); status != http.StatusOK || took != time.Second/2 {
					t.Errorf("response %d %v after %s", status, got, took)
				}
			})
		})
	}
}
