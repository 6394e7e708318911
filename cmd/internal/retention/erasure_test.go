package retention

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// zebra is the organization to delete. Its texts occur nowhere else.
const zebra = "zebra-quagga"

// traces are parts of zebra's identifiers, names and addresses.
var traces = []string{zebra, "zqhome", "zqplan", "zqendpoint", "zqschedule", "zqsource", "zqchannel", "zqprogram", "zqevent", "zqreport", "zqven", "zqresource", "zqclient", "zqsubscription", "Zebra and Quagga", "Vermilion Lane", "quagga.example"}

// lynx is an organization whose records are changed before its deletion. NATS keeps the
// earlier versions until it compacts the file. A restored backup and a compacted store have
// only the last.
const lynx = "lynx-caracal"

// changes are texts of the earlier versions of lynx's records.
var changes = []string{lynx, "lynxhome", "Ocelot", "serval.example"}

// found returns the traces in the files of a folder.
func found(t *testing.T, dir string, traces ...string) []string {
	t.Helper()
	in := map[string]bool{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var text []byte
		if err == nil && !d.IsDir() {
			text, err = os.ReadFile(path) //nolint:gosec // of the test itself
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // NATS has removed it meanwhile
		}
		for _, trace := range traces {
			if bytes.Contains(text, []byte(trace)) {
				in[filepath.Base(filepath.Dir(filepath.Dir(path)))+"/"+filepath.Base(path)+" has "+trace] = true
			}
		}
		return err
	}))
	return slices.Sorted(maps.Keys(in))
}

// furnish creates zebra with homes, a key and one of several kinds, a waiting task, and
// triggers with receipts.
func (f *fleet) furnish(homes int) {
	t, ctx, now := f.t, within(f.t), storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)}
	must(t, f.store.Create(ctx, &storage.Organization{ID: zebra, Name: "Zebra and Quagga", Base: storage.Base{OrganizationID: storage.Shared}}))
	key, _ := storage.NewKey(zebra, now.Time)
	of := storage.Base{OrganizationID: zebra}
	entities := []storage.Entity{
		&key, storagetest.RatePlan(zebra, "zqplan", 0.3),
		&storage.Solar{HomeID: "zqhome0", SizeKw: 5, Base: of},
		&storage.WebhookEndpoint{
			ID: "zqendpoint", Base: of, EndpointSettings: storage.EndpointSettings{URL: "https://quagga.example/hooks", DeliveryMode: storage.DeliverAlways},
		},
		&storage.Source{ID: "zqsource", Base: of, SourceSettings: storage.SourceSettings{
			Adapter: "csv", URL: "https://quagga.example/prices", Parameters: map[string]string{"node": "N"}, EverySeconds: 3600, Timezone: "UTC",
		}},
		&storage.SourceState{ID: "zqsource", Base: of},
		&storage.KeyUse{KeyID: key.ID, LastUsedAt: now, Base: of},
	}
	for i := range homes {
		home := storagetest.Home(zebra, fmt.Sprintf("zqhome%d", i), "zqplan")
		home.Name, home.StreetAddress = "Zebra and Quagga", "417 Vermilion Lane"
		entities = append(entities, home)
	}
	storagetest.Put(t, f.store, entities...)
	must(t, f.conn.PutTask(ctx, events.Task{TaskName: events.TaskName{Kind: events.TaskSchedule, OrganizationID: zebra, ID: "zqschedule"}, DueAt: storage.Time{Time: now.AddDate(1, 0, 0)}}))
	must(t, f.conn.PutTask(ctx, events.Task{TaskName: events.TaskName{Kind: events.TaskSource, OrganizationID: zebra, ID: "zqsource"}, DueAt: storage.Time{Time: now.AddDate(1, 0, 0)}}))
	_, err := f.conn.PutRequest(ctx, storage.IdempotentRequest{ID: storage.NewID("", now.Time), Answer: []byte(`"Vermilion Lane"`), Base: storage.Base{OrganizationID: zebra, CreatedAt: now}}, 0)
	must(t, err)
	for range triggers {
		f.trigger(ctx, zebra, "zqhome", now)
	}
	f.await("the ledger reads the receipts", func() bool {
		u, err := f.ledger.Usage(zebra)
		return err == nil && u.Deliveries == triggers*walkSlices*delivered
	})
}

// count returns the number of an organization's entities that a replica shows.
func count(t *testing.T, r storage.Replica, org string) (n int) {
	t.Helper()
	must(t, r.View(func(v storage.View) error {
		for _, kind := range storage.Kinds() {
			n += v.Count(kind, org)
		}
		return nil
	}))
	return n
}

// rest lets a month pass without work.
func (f *fleet) rest() {
	tick := time.NewTicker(month)
	defer tick.Stop()
	<-tick.C
}

// TestErasure_LeavesNothing deletes an organization beside another one. After the
// retention and a restart no file has a byte of it, and neither has a backup.
func TestErasure_LeavesNothing(t *testing.T) {
	t.Parallel()
	options := options
	options.ErasureAge = 60 * month // on a loaded machine a deletion and its checks take many months
	f := newFleetWith(t, t.TempDir(), options)
	must(t, f.store.Create(within(t), &storage.Organization{ID: "acme", Name: "Acme", Base: storage.Base{OrganizationID: storage.Shared}}))
	storagetest.Put(t, f.store, storagetest.RatePlan("acme", "plan", 0.2))
	f.shorten()
	f.furnish(50)
	f.month()
	others := count(t, f.state, "acme")
	f.furnishQueues()
	f.furnishChanged()
	all := slices.Concat(traces, changes)
	for _, trace := range all {
		if len(found(t, f.dir, trace)) == 0 {
			t.Fatalf("before the deletion no file has %q", trace)
		}
	}

	receipt, err := f.store.EraseOrganization(within(t), zebra)
	must(t, err)
	if !receipt.Complete || receipt.Records[storage.KindHome] != 50 || receipt.Records[storage.KindKey] != 1 || receipt.Records[storage.KindOrganization] != 1 {
		t.Errorf("the receipt is %+v", receipt)
	}
	if n := count(t, f.state, zebra); n != 0 {
		t.Errorf("the replica shows %d entities of the deleted organization", n)
	}
	_, err = f.store.EraseOrganization(within(t), lynx)
	must(t, err)
	if len(found(t, f.dir, changes...)) == 0 {
		t.Fatal("NATS has no earlier version of a record: this test shows nothing about them")
	}
	must(t, f.ledger.Prune(time.Now().Add(-month)))
	if u, err := f.ledger.Usage(zebra); err != nil || u != (events.Usage{}) {
		t.Errorf("the ledger has %+v of the deleted organization: %v", u, err)
	}
	f.rest() // NATS removes a file when the last of its messages has expired
	f.awaitPassing()
	f.month()
	if n := count(t, f.state, "acme"); n != others {
		t.Errorf("the other organization has %d entities, %d before", n, others)
	}
	f.awaitEmpty(slices.Concat(passing, []string{"GRIDHOOK_REQUESTS", "GRIDHOOK_FEEDBACK"})...) // a backup waits for messages that expire meanwhile
	restored := f.restoredDir()
	must(t, f.ledger.Prune(time.Now().Add(-month))) // of receipts that it read after the first time
	f.stop()
	nats := filepath.Join(f.dir, "nats")
	must(t, embedded.Compact(within(t), embedded.Options{Dir: nats, StartTimeout: patience, Log: discard}, nats+".new"))
	must(t, os.RemoveAll(nats))
	must(t, os.Rename(nats+".new", nats))
	f = newFleetWith(t, f.dir, options)
	if n := count(t, f.state, "acme"); n != others {
		t.Errorf("the other organization has %d entities after a restart, %d before", n, others)
	}
	for _, trace := range found(t, f.dir, all...) {
		t.Errorf("the data folder: %s", trace)
	}
	for _, trace := range found(t, restored, all...) {
		t.Errorf("a restored backup: %s", trace)
	}
}

// furnishChanged creates lynx with a home, an endpoint and a key, and changes each several
// times.
func (f *fleet) furnishChanged() {
	t, of := f.t, storage.Base{OrganizationID: lynx}
	must(t, f.store.Create(within(t), &storage.Organization{ID: lynx, Name: "Ocelot", Base: storage.Base{OrganizationID: storage.Shared}}))
	key, _ := storage.NewKey(lynx, time.Now())
	for i := range 5 {
		home := storagetest.Home(lynx, "lynxhome", "plan")
		home.StreetAddress = fmt.Sprintf("%d Ocelot Street", i)
		storagetest.Put(t, f.store, home, &storage.KeyUse{KeyID: key.ID, LastUsedAt: storage.Time{Time: time.Now()}, Base: of}, &storage.WebhookEndpoint{
			ID: "ep", Base: of, EndpointSettings: storage.EndpointSettings{URL: fmt.Sprintf("https://serval.example/%d", i), DeliveryMode: storage.DeliverAlways},
		})
	}
}

// late returns a replica of its own that has followed the log until now.
func (f *fleet) late(path string) *replica.Replica {
	t := f.t
	r, err := replica.Open(path, discard)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Follow(ctx, f.conn.StateLog()) }()
	state, err := f.conn.StateLog().State(within(t))
	must(t, err)
	must(t, r.WaitFor(within(t), state.Last))
	cancel()
	must(t, <-done)
	return r
}

// TestErasure_Interrupted ends a deletion in the middle. A replica that was away during the
// deletion, and a replica that is built anew, show nothing of the organization. The
// repeated deletion erases the rest. Its identifier is refused until its time has passed.
func TestErasure_Interrupted(t *testing.T) {
	t.Parallel()
	const homes = 300
	f := newFleet(t, t.TempDir())
	must(t, f.store.Create(within(t), &storage.Organization{ID: "acme", Name: "Acme", Base: storage.Base{OrganizationID: storage.Shared}}))
	storagetest.Put(t, f.store, storagetest.RatePlan("acme", "plan", 0.2), storagetest.Home("acme", "stays", "plan"))
	f.furnish(homes)
	others, away := count(t, f.state, "acme"), filepath.Join(t.TempDir(), "state.db")
	must(t, f.late(away).Close())

	ctx, cancel := context.WithCancel(t.Context())
	before, ended := f.messages(), make(chan error, 1)
	go func() {
		_, err := f.store.EraseOrganization(ctx, zebra)
		ended <- err
	}()
	for ctx := within(t); f.messages() >= before-homes/10; { // all at once: the deletion takes 50 ms on a fast machine
		must(t, ctx.Err())
	}
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("the deletion ended before it was interrupted")
	}
	if left := f.messages(); left < homes/10 {
		t.Fatalf("only %d messages are left", left)
	}
	f.stop()
	must(t, os.Remove(filepath.Join(f.dir, "state.db")))
	f = newFleet(t, f.dir)
	late := f.late(away)
	for name, r := range map[string]storage.Replica{"the new replica": f.state, "the replica that was away": late} {
		if got := count(t, r, zebra); got != 0 || count(t, r, "acme") != others {
			t.Errorf("%s has %d entities of the deleted organization and %d of the other, want 0 and %d", name, got, count(t, r, "acme"), others)
		}
	}
	must(t, late.Close())

	var receipt storage.Erasure
	n := 0
	for !receipt.Complete { // a slow machine needs several calls
		var err error
		receipt, err = f.store.EraseOrganization(within(t), zebra)
		must(t, err)
		n += receipt.Records[storage.KindHome]
	}
	if n == 0 || n >= homes {
		t.Errorf("the repeated deletion erased %d homes", n)
	}
	again := func() error {
		return f.store.Create(within(t), &storage.Organization{ID: zebra, Name: "New", Base: storage.Base{OrganizationID: storage.Shared}})
	}
	if erased, ok := errors.AsType[*storage.ErasedError](again()); !ok || !erased.Until.Equal(receipt.By) {
		t.Errorf("the identifier is refused with %v, want until %s", erased, receipt.By)
	}
	f.await("the identifier is free again", func() bool {
		storagetest.Put(t, f.store, storagetest.Home("acme", storage.NewID("home_", time.Now()), "plan")) // replicas tell the time by the log
		return again() == nil
	})
	if n := count(t, f.state, zebra); n != 0 {
		t.Errorf("the new organization has %d entities of the old one", n)
	}
	storagetest.Put(t, f.store, storagetest.Home(zebra, "new", "plan"))
	f.stop()
	must(t, os.Remove(filepath.Join(f.dir, "state.db")))
	if n := count(t, newFleet(t, f.dir).state, zebra); n != 1 {
		t.Errorf("a new replica has %d entities of the new organization, want 1", n)
	}
}
