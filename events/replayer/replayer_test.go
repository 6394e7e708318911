package replayer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

var noon = storagetest.Start

// world is a ledger, a message system and a queue of tasks in memory.
type world struct {
	t        testing.TB
	store    *storage.Store
	log      *storagetest.Log
	now      time.Time
	newest   events.Trigger
	triggers map[string]events.Trigger
	list     []events.Delivery // in the ledger's order
	lost     map[string]bool   // homes without stored inputs
	receipts map[string]bool
	retries  map[string]int // manually retried homes, by trigger and home
	order    []string
	waiting  map[events.TaskName]events.Task
	fail     func(what string) error
	// registry has the metrics of the last replayer.
	registry *prometheus.Registry
}

var errInjected = errors.New("injected")

func newWorld(t testing.TB) *world {
	w := &world{
		t: t, now: noon, triggers: map[string]events.Trigger{}, lost: map[string]bool{}, receipts: map[string]bool{},
		retries: map[string]int{}, waiting: map[events.TaskName]events.Task{}, fail: func(string) error { return nil },
	}
	w.store, w.log, _ = storagetest.NewStore(func() time.Time { return w.now })
	storagetest.Put(t, w.store, &storage.Organization{ID: "org", Name: "Org"})
	return w
}

func (w *world) replayer() *Replayer {
	w.registry = prometheus.NewRegistry()
	return New(Deps{
		Store: w.store, Ledger: w, Bus: w, Tasks: w, Log: slog.New(slog.DiscardHandler),
		Registerer: w.registry, Now: func() time.Time { return w.now },
	})
}

// counted returns the number of manual retries in the metrics of the last replayer.
func (w *world) counted() float64 {
	families, err := w.registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

// give adds a trigger with homes of an outcome each, at the endpoint ep.
func (w *world) give(id string, sequence uint64, start time.Time, outcomes ...events.Outcome) {
	t := events.NewTrigger("org", pricing.Window{Start: start, End: start.Add(24 * time.Hour)}, start)
	t.ID, t.Sequence = id, sequence
	w.triggers[id] = t
	if sequence > w.newest.Sequence {
		w.newest = t
	}
	for i, o := range outcomes {
		home := fmt.Sprintf("h%04d", i)
		w.list = append(w.list, events.Delivery{
			MessageID: events.MessageID(id, home, "ep"), TriggerID: id, HomeID: home, EndpointID: "ep", Outcome: o, At: storage.Time{Time: start},
		})
	}
}

func (w *world) Deliveries(_ string, q events.DeliveryQuery) (page []events.Delivery, next string, err error) {
	if err := w.fail("deliveries"); err != nil {
		return nil, "", err
	}
	from, _ := strconv.Atoi(q.After)
	for i := from; i < len(w.list); i++ {
		d := w.list[i]
		if d.EndpointID != q.EndpointID || !slices.Contains(q.Outcomes, d.Outcome) || d.At.Before(q.Since) {
			continue
		}
		if len(page) == q.Limit {
			return page, strconv.Itoa(i), nil
		}
		page = append(page, d)
	}
	return page, "", nil
}

func (w *world) Delivery(org, id string) (events.DeliveryLog, error) {
	for _, d := range w.list {
		if d.MessageID == id && org == "org" {
			return events.DeliveryLog{Delivery: d}, nil
		}
	}
	return events.DeliveryLog{}, storage.ErrNotFound
}

// RetryInputs stores two homes together.
func (w *world) RetryInputs(_, trigger string, deliveries []events.Delivery) (events.Trigger, []events.RetryInputs, error) {
	var kept []events.RetryInputs
	for _, d := range deliveries {
		switch n := len(kept); {
		case w.lost[d.HomeID]:
		case n > 0 && len(kept[n-1].Homes) < 2:
			kept[n-1].Homes = append(kept[n-1].Homes, events.RetryHome{HomeID: d.HomeID})
		default:
			kept = append(kept, events.RetryInputs{EndpointID: "ep", Homes: []events.RetryHome{{HomeID: d.HomeID}}})
		}
	}
	return w.triggers[trigger], kept, w.fail("kept")
}

func (w *world) PutReceipt(_ context.Context, r events.Receipt) error {
	if err := w.fail("receipt"); err != nil {
		return err
	}
	w.receipts[r.TriggerID+r.Key] = true
	for _, d := range r.Deliveries {
		i := slices.IndexFunc(w.list, func(have events.Delivery) bool { return have.MessageID == d.MessageID })
		if w.list[i].Outcome.GivenUp() {
			w.list[i].Outcome = events.OutcomeRetrying
		}
	}
	return w.fail("receipt, unanswered")
}

func (w *world) HasReceipt(_ context.Context, _, trigger, key string) (bool, error) {
	return w.receipts[trigger+key], w.fail("has receipt")
}

func (w *world) PutRetries(_ context.Context, retries []events.Retry) (int, error) {
	if err := w.fail("retries"); err != nil {
		return 0, err
	}
	for _, r := range retries {
		for _, h := range r.Homes { // replaces a waiting task
			w.retries[r.Trigger.ID+"/"+h.HomeID+" "+r.Key()]++
			w.order = append(w.order, r.Trigger.ID+"/"+h.HomeID)
		}
	}
	return 0, w.fail("retries, unanswered")
}

func (w *world) Newest(context.Context, string) (events.Trigger, error) { return w.newest, nil }

func (w *world) PutTask(_ context.Context, t events.Task) error {
	w.waiting[t.TaskName] = t
	return nil
}

func (w *world) PutNewTask(ctx context.Context, t events.Task) error { return w.PutTask(ctx, t) }

func (w *world) DropTask(context.Context, events.TaskName) error { return nil }

func (w *world) Tasks(context.Context, events.TaskKind) (map[events.TaskName]bool, error) {
	names := map[events.TaskName]bool{}
	for name := range w.waiting {
		names[name] = true
	}
	return names, nil
}

func (w *world) TaskDue(context.Context, events.TaskName) (time.Time, error) {
	return time.Time{}, nil
}

func (w *world) Clock(context.Context) (time.Time, error) { return time.Time{}, nil }

func (w *world) ConsumeTasks(_, taking context.Context, _ events.TaskKind, _ int, _ func(context.Context, events.Task, events.Taken) error) error {
	<-taking.Done()
	return nil
}

func (w *world) ask(outcomes ...events.Outcome) events.Task {
	r := storage.Replay{}
	r.ID, r.EndpointID, r.Since.Time, r.Status = "rpl", "ep", noon.Add(-12*time.Hour), storage.ReplayAccepted
	r.OrganizationID = "org"
	for _, o := range outcomes {
		r.Outcomes = append(r.Outcomes, string(o))
	}
	storagetest.Put(w.t, w.store, &r)
	return events.TaskOf(r.Ref(), 0, w.now)
}

func (w *world) result() storage.Replay {
	r, err := storage.Get[storage.Replay](w.store, storage.KindReplay.Ref("org", "rpl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func repeat(n int, o ...events.Outcome) (list []events.Outcome) {
	for range n {
		list = append(list, o...)
	}
	return list
}

func TestReplay_Plan(t *testing.T) {
	w := newWorld(t)
	w.give("trg_3", 3, noon, append(repeat(pageSize, events.OutcomeFailed, events.OutcomeDelivered, events.OutcomeExpired), events.OutcomeFailed)...)
	w.give("trg_2", 2, noon.Add(-time.Hour), repeat(5, events.OutcomeFailed)...)                                                       // superseded, on a page with the last of trg_3
	w.give("trg_1", 1, noon.AddDate(0, 0, -3), events.OutcomeFailed)                                                                   // before
	w.list = append(w.list, events.Delivery{TriggerID: "trg_3", EndpointID: "other", Outcome: "FAILED", At: storage.Time{Time: noon}}) // another endpoint's
	w.lost["h0000"] = true
	task := w.ask(events.OutcomeFailed, events.OutcomeExpired)
	if err := w.replayer().replay(t.Context(), task, events.Taken{}); err != nil {
		t.Fatal(err)
	}
	got := w.result()
	if got.Status != storage.ReplayCompleted || got.Found != 2*pageSize+6 || got.Retried != 2*pageSize || got.Superseded != 5 || got.Lost != 1 || got.CompletedAt.IsZero() {
		t.Errorf("the replay is %+v", got)
	}
	if len(w.retries) != 2*pageSize || w.order[0] != "trg_3/h0002" || w.counted() != 2*pageSize {
		t.Errorf("%d homes were retried and %g counted, the first %s", len(w.retries), w.counted(), w.order[0])
	}
	// A second run finds nothing to retry.
	if err := w.replayer().replay(t.Context(), task, events.Taken{}); err != nil || len(w.order) != 2*pageSize {
		t.Errorf("second run: %v, %d retried", err, len(w.order))
	}
}

// TestReplay_Turns checks that a long replay lets others go first, and goes on afterwards.
func TestReplay_Turns(t *testing.T) {
	w := newWorld(t)
	w.give("trg_1", 1, noon, repeat(4*pageSize, events.OutcomeFailed)...)
	task := w.ask(events.OutcomeFailed)
	w.fail = func(what string) error {
		if what == "deliveries" {
			w.now = w.now.Add(turn)
		}
		return nil
	}
	for i, want := range []int{2 * pageSize, 4 * pageSize} {
		if err := w.replayer().replay(t.Context(), task, events.Taken{}); err != nil {
			t.Fatal(err)
		}
		again, put := w.waiting[task.TaskName]
		if last := i == 1; w.result().Found != want || put == last || put && !again.DueAt.Equal(task.DueAt.Time) {
			t.Errorf("turn %d: the replay is %+v, and the task %+v", i, w.result(), again)
		}
		clear(w.waiting)
	}
}

// Wherever a replay is interrupted, before or after an effect, its next run retries the
// rest, and retries nothing twice that the ledger shows as retried.
func TestReplay_Resume(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		n := rapid.IntRange(1, 3*pageSize).Draw(rt, "homes")
		w.give("trg_1", 1, noon, repeat(n, events.OutcomeFailed)...)
		task := w.ask(events.OutcomeFailed)
		breaks := map[int]bool{}
		for range rapid.IntRange(0, 6).Draw(rt, "breaks") {
			breaks[rapid.IntRange(1, 60).Draw(rt, "at")] = true
		}
		step := 0
		w.fail = func(what string) error {
			if step++; breaks[step] {
				return fmt.Errorf("%s: %w", what, errInjected)
			}
			return nil
		}
		for range 10 {
			if err := w.replayer().replay(t.Context(), task, events.Taken{}); err == nil {
				break
			} else if !errors.Is(err, errInjected) {
				rt.Fatal(err)
			}
		}
		if got := w.result(); got.Status != storage.ReplayCompleted {
			rt.Fatalf("the replay is %+v", got)
		}
		retries := map[string]int{}
		for name := range w.retries {
			home, _, _ := strings.Cut(name, " ")
			retries[home]++
		}
		for _, d := range w.list {
			if d.Outcome != events.OutcomeRetrying || retries["trg_1/"+d.HomeID] == 0 {
				rt.Fatalf("%s is %s, with %d retries", d.HomeID, d.Outcome, retries["trg_1/"+d.HomeID])
			}
		}
	})
}

// A replay whose progress was lost does not repeat a retry that has ended meanwhile. The delivery
// log would show it as RETRYING for ever.
func TestReplay_RetryHasEnded(t *testing.T) {
	w := newWorld(t)
	w.give("trg_1", 1, noon, repeat(3, events.OutcomeFailed)...)
	for range 2 {
		if err := w.replayer().replay(t.Context(), w.ask(events.OutcomeFailed), events.Taken{}); err != nil {
			t.Fatal(err)
		}
		for name := range w.retries {
			_, key, _ := strings.Cut(name, " ")
			w.receipts["trg_1"+key] = true
		}
		for i := range w.list {
			w.list[i].Outcome = events.OutcomeFailed
		}
	}
	if len(w.order) != 3 {
		t.Errorf("%d retries of 3 deliveries: %v", len(w.order), w.order)
	}
}

// TestReplay_TwoReplayers has NATS hand the task to another replayer while the first one goes on.
// Each delivery counts once.
func TestReplay_TwoReplayers(t *testing.T) {
	for _, at := range []string{"deliveries", "kept", "receipt"} {
		w := newWorld(t)
		w.give("trg_1", 1, noon, repeat(pageSize+1, events.OutcomeFailed)...)
		task, other := w.ask(events.OutcomeFailed), false
		w.fail = func(what string) error {
			if what != at || other {
				return nil
			}
			other = true
			return w.replayer().replay(t.Context(), task, events.Taken{})
		}
		err := w.replayer().replay(t.Context(), task, events.Taken{})
		if got := w.result(); err != nil || !other || got.Status != storage.ReplayCompleted || got.Found != pageSize+1 || got.Retried != pageSize+1 {
			t.Errorf("%s: %v, the replay is %+v", at, err, got)
		}
	}
}

// TestReplay_OtherTurn has another replayer perform a part of the replay while the first one
// performs the same part. Each delivery counts once.
func TestReplay_OtherTurn(t *testing.T) {
	w := newWorld(t)
	w.give("trg_1", 1, noon, repeat(3*pageSize, events.OutcomeFailed)...)
	task, other := w.ask(events.OutcomeFailed), false
	w.fail = func(what string) error {
		switch {
		case what == "kept" && !other:
			other = true
			return w.replayer().replay(t.Context(), task, events.Taken{})
		case what == "deliveries" && other:
			w.now = w.now.Add(turn + time.Second) // a turn has one part
		}
		return nil
	}
	for put := true; put; _, put = w.waiting[task.TaskName] {
		clear(w.waiting)
		if err := w.replayer().replay(t.Context(), task, events.Taken{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.result(); got.Status != storage.ReplayCompleted || got.Found != 3*pageSize || got.Retried != 3*pageSize {
		t.Errorf("the replay is %+v", got)
	}
}

// TestPlan_DamagedReplay checks that a replay whose record does not decode stops no other
// replay.
func TestPlan_DamagedReplay(t *testing.T) {
	w := newWorld(t)
	task := w.ask(events.OutcomeFailed)
	delete(w.waiting, task.TaskName)
	if _, err := w.log.Append(t.Context(), storage.Write{Ref: storage.KindReplay.Ref("org", "a_damaged"), At: noon, Value: []byte("garbage")}); err != nil {
		t.Fatal(err)
	}
	if err := w.replayer().plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, planned := w.waiting[task.TaskName]; !planned || len(w.waiting) != 1 {
		t.Errorf("planned %v", w.waiting)
	}
}

// The task of a replay whose record no longer decodes is dropped, not redelivered for ever.
func TestReplay_Damaged(t *testing.T) {
	w := newWorld(t)
	task, ref := w.ask(events.OutcomeFailed), storage.KindReplay.Ref("org", "rpl")
	was, err := w.log.Read(t.Context(), ref)
	if err == nil {
		_, err = w.log.Append(t.Context(), storage.Write{Ref: ref, Expect: was.Revision, At: w.now, Value: []byte(`{"id":7}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.replayer().replay(t.Context(), task, events.Taken{}); err != nil {
		t.Errorf("the task ends with %v", err)
	}
}
