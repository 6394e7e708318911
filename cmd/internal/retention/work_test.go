package retention

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/backup"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// work is what a fleet does besides triggers: it changes its endpoints and keys, retries,
// runs schedules, notifies, and takes backups.
type work struct {
	*fleet
	// Counts of what the queues handed out.
	retries, runs, notices atomic.Int64
	// public is the recipient of the backups.
	public string
}

// newWork starts the queues of a fleet, until the test or the fleet ends.
func newWork(f *fleet) *work {
	t := f.t
	w := &work{fleet: f}
	var err error
	_, w.public, err = backup.NewKey()
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var consuming sync.WaitGroup
	consume := func(queue func() error) {
		consuming.Go(func() {
			if err := queue(); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	const slots = 8
	consume(func() error {
		return f.conn.ConsumeRetries(ctx, ctx, slots, func(context.Context, events.Retry, events.Taken) error {
			w.retries.Add(1)
			return nil
		})
	})
	consume(func() error { // each run stores the next one, as the scheduler does
		return f.conn.ConsumeTasks(ctx, ctx, events.TaskSchedule, slots, func(ctx context.Context, task events.Task, _ events.Taken) error {
			w.runs.Add(1)
			task.DueAt, task.Revision = storage.Time{Time: task.DueAt.Add(month)}, task.Revision+1
			return f.conn.PutTask(ctx, task)
		})
	})
	consume(func() error {
		return f.conn.ConsumeNotices(ctx, ctx, slots, func(context.Context, events.Notice, events.Taken) error {
			w.notices.Add(1)
			return nil
		})
	})
	stop := f.stop
	f.stop = sync.OnceFunc(func() {
		cancel()
		consuming.Wait()
		stop()
	})
	t.Cleanup(f.stop)
	return w
}

// Amounts of the work in a month.
const (
	endpoints    = 5
	knownSlices  = 4
	failures     = 20 // retries
	notices      = 10
	auditEntries = 20 // entries of the audit log
	deadLetters  = 5
)

// month does the work of a month besides the fleet's.
func (w *work) month(number int) {
	t, ctx, now := w.t, within(w.t), storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)}
	w.churn(ctx, number, now)
	start := storage.Time{Time: now.Truncate(pricing.Interval)}
	trigger := events.Trigger{ID: storage.NewID("trg_", now.Time), OrganizationID: "acme", Start: start, End: storage.Time{Time: start.Add(pricing.Interval)}, CreatedAt: now}
	var retries []events.Retry
	for i := range failures {
		retries = append(retries, events.Retry{
			Trigger: trigger, Attempt: 2, Round: 1, DueAt: now,
			RetryInputs: events.RetryInputs{EndpointID: "ep", Slice: i, Homes: []events.RetryHome{{HomeID: fmt.Sprintf("%s%d", strings.Repeat("h", 100), i)}}},
		})
	}
	_, err := w.conn.PutRetries(ctx, retries)
	must(t, err)
	for i := range notices {
		_, err := w.conn.PutNotice(ctx, events.Notice{
			ID: storage.NewID("evt_", now.Time), Type: "webhook.test", OrganizationID: "acme", CreatedAt: now, Data: fmt.Appendf(nil, "%d", i),
		})
		must(t, err)
	}
	for i := range auditEntries {
		must(t, w.conn.PutAudit(ctx, storage.AuditEntry{Time: now, OrganizationID: "acme", KeyID: "key", Operation: "updateHome", ObjectID: fmt.Sprint(i), Status: 200}))
	}
	for i := range deadLetters {
		must(t, w.conn.PutDeadLetter(ctx, events.DeadLetter{ID: fmt.Sprintf("%s.%d", trigger.ID, i), Kind: "slice", OrganizationID: "acme", At: now, Body: make([]byte, 1000)}))
	}
	for i := range triggers {
		must(t, w.conn.PutPosition(events.WalkPosition{OrganizationID: "acme", TriggerID: fmt.Sprintf("%s_%d", trigger.ID, i), Slice: walkSlices, Last: true}))
	}
}

// churn replaces the endpoints, the schedule and the key of the month before.
func (w *work) churn(ctx context.Context, number int, now storage.Time) {
	t, of := w.t, storage.Base{OrganizationID: "acme"}
	for i := range endpoints {
		e := storage.NewWebhookEndpoint("acme")
		e.ID, e.URL = fmt.Sprintf("ep_%d_%d", number, i), "https://receiver.example/"+strings.Repeat("p", 200)
		storagetest.Put(t, w.store, &e)
		for slice := range knownSlices {
			_, err := w.conn.PutKnown(ctx, "acme", e.ID, slice, events.Known{Signals: map[string]string{"h": strings.Repeat("f", 1000)}})
			must(t, err)
		}
		if number > 0 {
			must(t, w.store.Delete(ctx, storage.KindWebhookEndpoint.Ref("acme", fmt.Sprintf("ep_%d_%d", number-1, i))))
		}
	}
	key, _ := storage.NewKey("acme", now.Time)
	key.ID = fmt.Sprintf("key_%d", number)
	storagetest.Put(t, w.store, &key, &storage.KeyUse{KeyID: key.ID, LastUsedAt: now, Base: of})
	if number > 0 {
		_, err := storage.Update[storage.Key](ctx, w.store, storage.Ref{Kind: storage.KindKey, Org: "acme", ID: fmt.Sprintf("key_%d", number-1)}, func(k *storage.Key) error {
			k.Revoke(now.Time)
			return nil
		})
		must(t, err)
		later := now.Add(storage.EndedKeyRetention + time.Hour) // the retention of a key has no setting
		ended, err := storage.Query(w.store, func(v storage.View) ([]storage.Record, error) { return storage.EndedKeys(v, later) })
		must(t, err)
		must(t, w.store.DeleteEach(ctx, ended))
		return
	}
	must(t, w.conn.PutTask(ctx, events.Task{TaskName: events.TaskName{Kind: events.TaskSchedule, OrganizationID: "acme", ID: "sch"}, DueAt: now}))
}

// sizes adds the size of a backup, the live heap and the stacks of the goroutines to the
// fleet's sizes. The stacks grow a little, because the server keeps the consumers of a backup
// for five minutes, and this year takes seconds.
func (w *work) sizes() map[string]int64 {
	t := w.t
	sizes := w.fleet.sizes()
	path := filepath.Join(t.TempDir(), "backup")
	file, err := os.Create(path) //nolint:gosec // of the test itself
	must(t, err)
	must(t, backup.Write(within(t), w.conn, file, backup.Options{Recipients: []string{w.public}, Now: time.Now}))
	must(t, file.Close())
	info, err := os.Stat(path)
	must(t, err)
	sizes["backup"] = info.Size()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	sizes["live heap"], sizes["stacks"] = int64(memory.HeapAlloc), int64(memory.StackInuse) //nolint:gosec // far below the limit
	return sizes
}

// done checks that the queues handed out all of the work.
func (w *work) done(t *testing.T) {
	t.Helper()
	defer func() {
		t.Logf("%d retries, %d notices and %d runs of the schedule", w.retries.Load(), w.notices.Load(), w.runs.Load())
	}()
	w.await("the queues are empty", func() bool {
		return w.retries.Load() >= months*failures && w.notices.Load() >= months*notices && w.runs.Load() >= months/2
	})
}
