package retention

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/backup"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/events/ledger"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// month is the duration of a month of 30 days. JetStream's shortest time to live is a
// second.
const (
	month    = time.Second
	months   = 12
	patience = time.Minute
)

// These constants are the work of a fleet in a month.
const (
	homesAlways  = 400 // homes for the whole year
	homesPassing = 40  // homes for one month
	requests     = 50
	submissions  = 20
	triggers     = 10
	walkSlices   = 3
	delivered    = 64 // homes per slice
)

var (
	options = jetstream.Options{
		Replicas: 1, TriggersAge: month, ReceiptsAge: month, DeletionsAge: month, RequestsAge: month, FeedbackAge: 2 * month, AuditAge: 2 * month, ErasureAge: 3 * month,
	}
	discard = slog.New(slog.DiscardHandler)
)

// fleet is an installation in one process.
type fleet struct {
	t      *testing.T
	dir    string
	server *embedded.Server
	conn   *jetstream.Conn
	store  *storage.Store
	ledger *ledger.Ledger
	state  *replica.Replica
	stop   func()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newFleet(t *testing.T, dir string) *fleet {
	t.Helper()
	return newFleetWith(t, dir, options)
}

func newFleetWith(t *testing.T, dir string, options jetstream.Options) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: dir}
	var err error
	f.server, err = embedded.Start(embedded.Options{Dir: filepath.Join(dir, "nats"), StartTimeout: patience, Log: discard})
	must(t, err)
	f.conn, err = jetstream.Connect(t.Context(), "", options, discard, f.server.Option())
	must(t, err)
	f.state, err = replica.Open(filepath.Join(dir, "state.db"), discard)
	must(t, err)
	f.ledger, err = ledger.Open(filepath.Join(dir, "ledger.db"), ledger.Options{Keep: month, Erased: f.erased, Log: discard, Now: time.Now})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { _ = f.state.Follow(ctx, f.conn.StateLog()) })
	following.Go(func() { _ = f.ledger.Follow(ctx, f.conn) })
	f.store = storage.NewStore(f.conn.StateLog(), f.state, time.Now)
	f.stop = sync.OnceFunc(func() {
		cancel()
		following.Wait()
		must(t, f.state.Close())
		must(t, f.ledger.Close())
		must(t, f.conn.Close())
		must(t, f.server.Stop(patience))
	})
	t.Cleanup(f.stop)
	must(t, f.store.CatchUp(within(t)))
	return f
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// month does the work of a fleet in a month.
func (f *fleet) month() {
	t, ctx, now := f.t, within(f.t), storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)}
	var entities []storage.Entity
	for i := range homesAlways {
		home := storagetest.Home("acme", fmt.Sprintf("stays%d", i), "plan")
		home.Name, home.City = now.String(), strings.Repeat("\u00e9", 255) // it changes
		entities = append(entities, home)
	}
	for i := range homesPassing {
		id := fmt.Sprintf("passes%d", i) // the same each month: a deleted identifier may return
		if i%2 == 0 {
			id = storage.NewID("home_", now.Time)
		}
		solar := &storage.Solar{HomeID: id, SizeKw: 5}
		solar.OrganizationID = "acme"
		entities = append(entities, storagetest.Home("acme", id, "plan"), solar)
		defer func() { must(t, f.store.Delete(ctx, storage.KindHome.Ref("acme", id))) }()
	}
	storagetest.Put(t, f.store, entities...)
	for range requests {
		o := storage.IdempotentRequest{ID: storage.NewID("", now.Time), Fingerprint: strings.Repeat("f", 64), Answer: []byte(`{"a":1}`)}
		o.OrganizationID, o.CreatedAt = "acme", now
		_, err := f.conn.PutRequest(ctx, o, 0)
		must(t, err)
	}
	for range submissions {
		form := storage.FeedbackForm{Type: "bug", Summary: "s", Message: strings.Repeat("m", 2000)}
		must(t, f.conn.PutFeedback(ctx, storage.Feedback{ID: storage.NewID("fb_", now.Time), FeedbackForm: form}))
	}
	for range triggers {
		f.trigger(ctx, "acme", "stays", now)
	}
	must(t, f.ledger.Prune(time.Now().Add(-month)))
}

// trigger stores a trigger with its receipts. The homes' identifiers begin with prefix.
func (f *fleet) trigger(ctx context.Context, org, prefix string, now storage.Time) {
	trigger := events.Trigger{ID: storage.NewID("trg_", now.Time), OrganizationID: org, Start: now, End: now, CreatedAt: now, Homes: delivered}
	_, err := f.conn.Accept(ctx, trigger)
	must(f.t, err)
	for number := range walkSlices {
		r := events.Receipt{
			TriggerID: trigger.ID, OrganizationID: org, Key: fmt.Sprintf("s%d", number),
			Slice: &events.SliceBounds{Number: number, Homes: delivered, Through: prefix, Last: number == walkSlices-1},
		}
		for i := range delivered {
			r.Deliveries = append(r.Deliveries, events.Delivery{
				HomeID: fmt.Sprintf("%s%d", prefix, i), EndpointID: "ep_1", Outcome: events.OutcomeDelivered, Attempt: 1, At: now, Status: 200, Milliseconds: 3,
			})
		}
		must(f.t, f.conn.PutReceipt(ctx, r))
	}
}

// sizes returns the bytes of each stream, as the server counts them, and of each file.
func (f *fleet) sizes() map[string]int64 {
	t, ctx := f.t, within(f.t)
	sizes := map[string]int64{}
	nc, err := nats.Connect("", f.server.Option())
	must(t, err)
	defer nc.Close()
	js, err := natsjs.New(nc)
	must(t, err)
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		sizes[info.Config.Name] = int64(info.State.Bytes)
	}
	must(t, list.Err())
	for _, name := range []string{"state.db", "ledger.db"} {
		info, err := os.Stat(filepath.Join(f.dir, name))
		must(t, err)
		sizes[name] = info.Size()
	}
	must(t, filepath.WalkDir(filepath.Join(f.dir, "nats"), func(_ string, d fs.DirEntry, _ error) error {
		if d != nil && !d.IsDir() {
			if info, err := d.Info(); err == nil { // it may have been removed meanwhile
				sizes["nats files"] += info.Size()
			}
		}
		return nil
	}))
	return sizes
}

// entities returns the number of live entities.
func (f *fleet) entities() (n int) {
	must(f.t, f.store.View(func(v storage.View) error {
		for _, kind := range storage.Kinds() {
			n += v.Count(kind, "acme") + v.Count(kind, storage.Shared)
		}
		return nil
	}))
	return n
}

// TestRetention_Year simulates a year and checks the stored data at the end of each month. After
// the first retention period nothing grows.
func TestRetention_Year(t *testing.T) {
	t.Parallel()
	f := newFleet(t, t.TempDir())
	must(t, f.store.Create(within(t), &storage.Organization{ID: "acme", Name: "Acme", Base: storage.Base{OrganizationID: storage.Shared}}))
	storagetest.Put(t, f.store, storagetest.RatePlan("acme", "plan", 0.2))
	f.shorten()
	f.month()
	f, monthOld := f.restarted()
	f.shorten()
	w := newWork(f)
	var points []map[string]int64
	var entities int
	tick := time.NewTicker(month)
	defer tick.Stop()
	for m := range months {
		f.month()
		w.month(m)
		points = append(points, w.sizes())
		if n := f.entities(); m == 0 {
			entities = n
		} else if n != entities {
			t.Errorf("month %d: %d entities, %d in the first", m+1, n, entities)
		}
		<-tick.C
	}
	w.done(t)
	w.awaitBounded(points)
	f.followsLate()
	f.restores(entities)
	f, yearOld := f.restarted()
	if n := f.entities(); n != entities {
		t.Errorf("%d entities after a restart, want %d", n, entities)
	}
	t.Logf("a restart took %s after a month, and %s after the year", monthOld, yearOld)
}

// restarted stops the fleet and starts it again on its files. It returns the time of the start.
// No deletion expires meanwhile: nats-server 2.15.2 and 2.15.3 keep for ever what expires
// between the closing of their files and their stop.
func (f *fleet) restarted() (*fleet, time.Duration) {
	f.awaitForgotten()
	f.stop()
	began := time.Now()
	return newFleet(f.t, f.dir), time.Since(began).Round(time.Millisecond)
}

// awaitBounded waits until nothing is larger after the year than in its first months. It
// waits, because on a busy machine two months of work can lie within one, and the server may
// remove messages late.
func (w *work) awaitBounded(points []map[string]int64) {
	t := w.t
	const settled = 5 // months: twice the longest retention, and one more
	var last map[string]int64
	ended := time.Now()
	for {
		last = w.sizes()
		if larger := largerThan(points[:settled], last); len(larger) == 0 {
			break
		} else if time.Since(ended) > patience {
			t.Errorf("larger after the year than in the first %d months: %s", settled, strings.Join(larger, ", "))
			break
		}
	}
	for name := range last {
		var series []string
		for _, p := range append(points, last) {
			series = append(series, fmt.Sprint(p[name]>>10))
		}
		t.Logf("%-20s KB: %s", name, strings.Join(series, " "))
	}
}

// largerThan returns what is larger than in all points.
func largerThan(points []map[string]int64, sizes map[string]int64) (larger []string) {
	for name, size := range sizes {
		var peak int64
		for _, p := range points {
			peak = max(peak, p[name])
		}
		slack := int64(4 << 10)
		if !strings.HasPrefix(name, "GRIDHOOK_") {
			slack = 4 << 20 // nats-server compacts a file once half of it, and 2 MiB, are unused
		}
		if size > peak*3/2+slack {
			larger = append(larger, fmt.Sprintf("%s has %d bytes, at most %d before", name, size, peak))
		}
	}
	return larger
}

// followsLate starts a replica that was away for longer than the retention of deletions.
func (f *fleet) followsLate() {
	t := f.t
	late := filepath.Join(t.TempDir(), "state.db")
	follow := func() *replica.Replica {
		r, err := replica.Open(late, discard)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Follow(ctx, f.conn.StateLog()) }()
		must(t, r.WaitFor(within(t), f.store.Revision()))
		cancel()
		must(t, <-done)
		return r
	}
	storagetest.Put(t, f.store, storagetest.Home("acme", "away", "plan"))
	must(t, follow().Close())
	must(t, f.store.Delete(within(t), storage.KindHome.Ref("acme", "away")))
	f.awaitForgotten()
	storagetest.Put(t, f.store, storagetest.Home("acme", "newer", "plan"))
	r := follow()
	must(t, r.View(func(v storage.View) error {
		if _, err := v.Get(storage.KindHome.Ref("acme", "away")); err == nil {
			t.Error("a replica that was away still has a deleted home")
		}
		return nil
	}))
	must(t, r.Close())
	must(t, f.store.Delete(within(t), storage.KindHome.Ref("acme", "newer")))
}

// awaitForgotten waits until STATE has no deletion.
func (f *fleet) awaitForgotten() {
	f.t.Helper()
	f.await("deletions are forgotten", func() bool { return f.messages() == f.entities() })
}

// messages returns the number of messages in STATE.
func (f *fleet) messages() int {
	nc, err := nats.Connect("", f.server.Option())
	must(f.t, err)
	defer nc.Close()
	js, err := natsjs.New(nc)
	must(f.t, err)
	s, err := js.Stream(within(f.t), "GRIDHOOK_STATE")
	must(f.t, err)
	return int(s.CachedInfo().State.Msgs)
}

// await repeats a check until it succeeds.
func (f *fleet) await(what string, holds func() bool) {
	f.t.Helper()
	tick := time.NewTicker(month / 10)
	defer tick.Stop()
	for ctx := within(f.t); !holds(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			f.t.Fatalf("%s: %d messages, %d entities", what, f.messages(), f.entities())
		}
	}
}

// restores restores a backup elsewhere, where the same retention applies.
func (f *fleet) restores(entities int) {
	t := f.t
	storagetest.Put(t, f.store, storagetest.Home("acme", "deleted", "plan"))
	must(t, f.store.Delete(within(t), storage.KindHome.Ref("acme", "deleted")))
	restored := newFleet(t, f.restoredDir())
	if n := restored.entities(); n != entities {
		t.Errorf("%d entities are restored, want %d", n, entities)
	}
	restored.await("restored deletions are forgotten", func() bool { return restored.messages() == entities })
	restored.shorten()
	if got, want := restored.limits(), f.limits(); !maps.Equal(got, want) {
		t.Errorf("restored streams have the limits\n%v, want\n%v", got, want)
	}
}

// limits returns what bounds each stream, and what removes its messages.
func (f *fleet) limits() map[string]string {
	t := f.t
	nc, err := nats.Connect("", f.server.Option())
	must(t, err)
	defer nc.Close()
	js, err := natsjs.New(nc)
	must(t, err)
	limits := map[string]string{}
	list := js.ListStreams(within(t))
	for info := range list.Info() {
		c := info.Config
		limits[c.Name] = fmt.Sprintln(c.MaxAge, c.MaxMsgs, c.MaxMsgsPerSubject, c.MaxMsgSize, c.Discard, c.AllowMsgTTL, c.SubjectDeleteMarkerTTL)
	}
	must(t, list.Err())
	return limits
}

// restoredDir makes a backup and returns a new data folder with its content.
func (f *fleet) restoredDir() string {
	t := f.t
	private, public, err := backup.NewKey()
	must(t, err)
	path := filepath.Join(t.TempDir(), "backup")
	file, err := os.Create(path) //nolint:gosec // of the test itself
	must(t, err)
	must(t, backup.Write(within(t), f.conn, file, backup.Options{Recipients: []string{public}, Now: time.Now}))
	must(t, file.Close())
	opened, err := backup.Open(path, private)
	must(t, err)

	dir := t.TempDir()
	server, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "nats"), StartTimeout: patience, Log: discard})
	must(t, err)
	conn, err := jetstream.ConnectBare("", options, discard, server.Option())
	must(t, err)
	must(t, opened.Restore(within(t), conn, options, false))
	must(t, conn.Close())
	must(t, server.Stop(patience))
	return dir
}

// erased reports whether an organization is deleted.
func (f *fleet) erased(org string) (erased bool, err error) {
	err = f.state.View(func(v storage.View) (err error) {
		erased, err = storage.IsErased(v, org, f.store.Now())
		return err
	})
	return erased, err
}
