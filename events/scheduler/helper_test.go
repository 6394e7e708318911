package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// tasks is an events.Tasks in memory, on the test's clock.
type tasks struct {
	mu      sync.Mutex
	waiting map[events.TaskName]events.Task
	due     []events.Task
	doing   map[events.TaskName]int
	fail    func(what string) error // nil for no time
	changed chan struct{}           // closed and replaced when a task is put or restored
}

// wakeLocked wakes the consumers.
func (q *tasks) wakeLocked() {
	close(q.changed)
	q.changed = make(chan struct{})
}

func (q *tasks) failing(what string) error {
	if q.fail == nil {
		return nil
	}
	return q.fail(what)
}

func (q *tasks) put(t events.Task, replace bool) error {
	if err := q.failing("put"); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.waiting[t.TaskName]; !there || replace {
		q.waiting[t.TaskName] = t
		q.wakeLocked()
	}
	return q.failing("put, unanswered")
}

func (q *tasks) PutTask(_ context.Context, t events.Task) error    { return q.put(t, true) }
func (q *tasks) PutNewTask(_ context.Context, t events.Task) error { return q.put(t, false) }

func (q *tasks) DropTask(_ context.Context, name events.TaskName) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.move()
	delete(q.waiting, name)
	return nil
}

// move makes waiting tasks due whose time has come.
func (q *tasks) move() {
	for _, name := range slices.SortedFunc(maps.Keys(q.waiting), func(a, b events.TaskName) int {
		return q.waiting[a].DueAt.Compare(q.waiting[b].DueAt.Time)
	}) {
		if t := q.waiting[name]; !time.Now().Before(t.DueAt.Time) {
			delete(q.waiting, name)
			q.due = append(q.due, t)
		}
	}
}

func (q *tasks) Tasks(context.Context, events.TaskKind) (map[events.TaskName]bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	names := map[events.TaskName]bool{}
	for name := range q.waiting {
		names[name] = true
	}
	for name, n := range q.doing {
		if n > 0 {
			names[name] = true
		}
	}
	for i := range q.due {
		names[q.due[i].TaskName] = true
	}
	return names, nil
}

func (q *tasks) TaskDue(_ context.Context, name events.TaskName) (time.Time, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.move()
	return q.waiting[name].DueAt.Time, nil
}

func (q *tasks) Clock(context.Context) (time.Time, error) { return time.Now(), nil }

// take takes a due task. If none is due, it returns the time until the next one, and a
// channel that is closed when the tasks change.
func (q *tasks) take() (t events.Task, ok bool, wait time.Duration, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.move()
	if len(q.due) == 0 {
		wait = time.Hour
		for _, t := range q.waiting {
			wait = min(wait, time.Until(t.DueAt.Time))
		}
		return t, false, wait, q.changed
	}
	t = q.due[0]
	q.due = q.due[1:]
	q.doing[t.TaskName]++
	return t, true, 0, nil
}

func (q *tasks) ConsumeTasks(ctx, taking context.Context, _ events.TaskKind, _ int, handle func(context.Context, events.Task, events.Taken) error) error {
	for taking.Err() == nil {
		t, ok, wait, changed := q.take()
		if !ok {
			periodic.Wait(taking, wait, changed)
			continue
		}
		err := handle(ctx, t, events.Taken{})
		if err == nil {
			err = q.failing("acknowledge")
		}
		q.mu.Lock()
		q.doing[t.TaskName]--
		if err != nil {
			q.due = append(q.due, t)
			q.wakeLocked()
		}
		q.mu.Unlock()
	}
	return nil
}

// triggers is the log of triggers.
type triggers struct {
	mu   sync.Mutex
	list []events.Trigger
	fail func(what string) error
}

// at returns the (i+1)th accepted trigger. It locks also while the fleet is idle: nothing
// else orders the read before the fleet's next write.
func (l *triggers) at(i int) events.Trigger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list[i]
}

func (l *triggers) Admit(context.Context, events.Trigger) error { return nil }

func (l *triggers) Accept(_ context.Context, t events.Trigger) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.IdempotencyKey == "" && l.last(t.OrganizationID, t.ScheduleID).Sequence != t.Follows {
		return 0, storage.ErrConflict
	}
	for i := range l.list {
		if t.IdempotencyKey != "" && l.list[i].IdempotencyKey == t.IdempotencyKey {
			return uint64(i) + 1, nil
		}
	}
	if l.fail != nil {
		if err := l.fail("accept"); err != nil {
			return 0, err
		}
	}
	l.list = append(l.list, t)
	if l.fail != nil {
		if err := l.fail("accept, unanswered"); err != nil {
			return 0, err
		}
	}
	return uint64(len(l.list)), nil
}

func (l *triggers) FirstRequest(context.Context, events.Trigger) (events.Trigger, error) {
	return events.Trigger{}, nil
}

func (l *triggers) Newest(context.Context, string) (events.Trigger, error) {
	return events.Trigger{}, nil
}

func (l *triggers) LastOf(_ context.Context, org, scheduleID string) (events.Trigger, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		if err := l.fail("last of " + scheduleID); err != nil {
			return events.Trigger{}, err
		}
	}
	return l.last(org, scheduleID), nil
}

func (l *triggers) last(org, scheduleID string) events.Trigger {
	for i, t := range slices.Backward(l.list) {
		if t.OrganizationID == org && t.ScheduleID == scheduleID {
			t.Sequence = uint64(i) + 1
			return t
		}
	}
	return events.Trigger{}
}

// world is a store with an organization, and the queue and log of a fleet.
type world struct {
	t        testing.TB
	store    *storage.Store
	log      *storagetest.Log
	tasks    *tasks
	triggers *triggers
	asked    int // of the triggers
	// state is the log of record that the schedulers follow, nil without OpenADR.
	state storage.Log
	// everyChange is set if there may be subscribers by MQTT.
	everyChange bool
	// logger is the schedulers' logger.
	logger *slog.Logger
	// registry has the metrics of the last scheduler.
	registry *prometheus.Registry
	// ahead is how far the schedulers' clock is ahead. skew adds to it for the schedulers
	// that fleet starts next.
	ahead atomic.Int64
	skew  time.Duration
}

// newWorld returns a world in a synctest bubble.
func newWorld(t testing.TB) *world {
	store, log, _ := storagetest.NewStore(time.Now)
	w := &world{
		t: t, store: store, log: log, triggers: &triggers{}, logger: slog.New(slog.DiscardHandler),
		tasks: &tasks{waiting: map[events.TaskName]events.Task{}, doing: map[events.TaskName]int{}, changed: make(chan struct{})},
	}
	storagetest.Put(t, store, &storage.Organization{ID: "org", Name: "Org"}, storagetest.Home("org", "h1", "p"), storagetest.Home("org", "h2", "p"))
	return w
}

// fleet starts schedulers and returns a function that stops them.
func (w *world) fleet(n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	skew := w.skew
	for range n {
		s := w.scheduler(skew)
		wg.Go(func() {
			if err := s.Run(ctx); err != nil {
				w.t.Error(err)
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}

// scheduler returns a scheduler whose clock is ahead by skew, in addition.
func (w *world) scheduler(skew time.Duration) *Scheduler {
	w.registry = prometheus.NewRegistry()
	return New(Deps{
		Store: w.store, Pricer: signals.NewPricer(100), Tasks: w.tasks, Triggers: w.triggers, Runs: w.triggers, Log: w.logger,
		Registerer: w.registry, Now: func() time.Time { return w.now().Add(skew) }, State: w.state, EveryChange: w.everyChange, ReportRetention: time.Hour,
	})
}

// now is the time on the schedulers' clock.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// create stores a schedule like the API, with its first run queued.
func (w *world) create(s storage.Schedule) {
	if err := w.store.Create(context.Background(), &s); err != nil {
		w.t.Fatal(err)
	}
	w.plan(s.ID)
}

func (w *world) change(id string, change func(*storage.Schedule)) {
	_, err := storage.Update(context.Background(), w.store, storage.KindSchedule.Ref("org", id), func(s *storage.Schedule) error {
		change(s)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.plan(id)
}

func (w *world) plan(id string) {
	err := w.store.View(func(v storage.View) error {
		s, revision, err := storage.Read[storage.Schedule](v, storage.KindSchedule.Ref("org", id))
		if task, ok := events.FirstRun(&s, revision); err == nil && ok {
			err = w.tasks.PutTask(context.Background(), task)
		}
		return err
	})
	if err != nil && !errors.Is(err, errInjected) {
		w.t.Fatal(err)
	}
}

var errInjected = errors.New("injected")

// pass advances the clock and waits until due work is done.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// suspend suspends or resumes the organization.
func (w *world) suspend(suspended bool) {
	storagetest.Put(w.t, w.store, &storage.Organization{ID: "org", Name: "Org", Suspended: suspended, Base: storage.Base{OrganizationID: storage.Shared}})
}

// runs returns the times of accepted triggers, since the bubble's start.
func (w *world) runs() (list []time.Duration) {
	w.triggers.mu.Lock()
	defer w.triggers.mu.Unlock()
	for _, t := range w.triggers.list {
		list = append(list, t.CreatedAt.Sub(began).Truncate(time.Minute))
	}
	return list
}

// forget empties the log of triggers.
func (w *world) forget() {
	w.triggers.mu.Lock()
	defer w.triggers.mu.Unlock()
	w.triggers.list = nil
}

// began is the start time of every bubble.
var began = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

func schedule(every int) storage.Schedule {
	s := storage.NewSchedule("org")
	s.ID, s.EveryMinutes = "sch", every
	return s
}
