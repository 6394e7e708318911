package jetstream

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func TestAccept_Trigger(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	first, second := newTrigger("org"), newTrigger("org")
	for i, want := range []events.Trigger{first, second} {
		sequence, err := b.Accept(within(t), want)
		if err != nil || sequence != uint64(i)+1 {
			t.Fatalf("accepted as %d, %v", sequence, err)
		}
	}
	if sequence, err := b.Accept(within(t), first); err != nil || sequence != 1 {
		t.Errorf("repeat is accepted as %d, %v, want one stored trigger", sequence, err)
	}
	got := make(chan events.Trigger, 3)
	handle := func(_ contextT, tr events.Trigger, _ events.Taken) error { got <- tr; return nil }
	stop := consuming(t, b, func(ctx, taking contextT) error { return b.ConsumeTriggers(ctx, taking, 1, handle) })
	for i, want := range []events.Trigger{first, second} {
		want.Sequence = uint64(i) + 1
		if tr := receive(t, got); !reflect.DeepEqual(tr, want) {
			t.Errorf("consumed trigger is %+v, want %+v", tr, want)
		}
	}
	stop()
}

// A new consumer gets all stored triggers. Those whose receipts have expired have ended long
// ago, but nothing shows it.
func TestConsumeTriggers_ExpiredReceipts(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.Accept(within(t), newTrigger("old"))
	must(t, err)
	b.options.ReceiptsAge = 0
	got := make(chan string, 2)
	handle := func(_ contextT, tr events.Trigger, _ events.Taken) error { got <- tr.OrganizationID; return nil }
	stop := consuming(t, b, func(ctx, taking contextT) error { return b.ConsumeTriggers(ctx, taking, 1, handle) })
	defer stop()
	for ended := uint64(0); ended == 0; <-time.After(10 * time.Millisecond) {
		if consumer, err := b.js.Consumer(within(t), triggersStream, startQueue.name); err == nil {
			ended = consumer.CachedInfo().AckFloor.Stream
		}
	}
	_, err = b.Accept(within(t), newTrigger("new"))
	must(t, err)
	if org := receive(t, got); org != "new" {
		t.Errorf("the %s trigger was taken first", org)
	}
}

// newChange returns a trigger with a change.
func newChange(org string) events.Trigger {
	t := newTrigger(org)
	t.Change = &events.Change{ObjectType: storage.OpenADRReport, ObjectID: "report_1", Operation: events.OperationCreate, Object: []byte(`{}`)}
	return t
}

// The changes of an organization are handled one after the other. Meanwhile another
// organization's change is handled, and a trigger without a change.
func TestConsumeChanges_Organizations(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	busy, waiting, plain, other := newChange("busy"), newChange("busy"), newTrigger("busy"), newChange("other")
	for _, tr := range []events.Trigger{busy, waiting, plain, other} {
		_, err := b.Accept(within(t), tr)
		must(t, err)
	}
	got, release := make(chan string, 4), make(chan struct{})
	handle := func(_ contextT, tr events.Trigger, _ events.Taken) error {
		got <- tr.ID
		if tr.ID == busy.ID {
			<-release
		}
		return nil
	}
	defer consuming(t, b, func(ctx, taking contextT) error { return b.ConsumeChanges(ctx, taking, handle) })()
	ids := []string{receive(t, got), receive(t, got), receive(t, got)}
	if !slices.Contains(ids, busy.ID) || !slices.Contains(ids, other.ID) || !slices.Contains(ids, plain.ID) {
		t.Errorf("the first are %s, want %s, %s and %s at once", ids, busy.ID, plain.ID, other.ID)
	}
	close(release)
	if id := receive(t, got); id != waiting.ID {
		t.Errorf("the last change is %s, want %s", id, waiting.ID)
	}
}

// An organization with more changes than the queue has places does not delay another one. Its
// changes are handled once each, in the order of the log.
func TestConsumeChanges_Backlog(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	var accepting errgroup.Group
	accepting.SetLimit(64)
	const changes = maxInOrder + 100
	for range changes {
		accepting.Go(func() error {
			_, err := b.Accept(t.Context(), newChange("busy"))
			return err
		})
	}
	must(t, accepting.Wait())
	busy, other, release := make(chan uint64, changes), make(chan string, 1), make(chan struct{})
	defer consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeChanges(ctx, taking, func(_ contextT, tr events.Trigger, _ events.Taken) error {
			if tr.OrganizationID == "other" {
				other <- tr.ID
				return nil
			}
			<-release
			busy <- tr.Sequence
			return nil
		})
	})()
	_, err := b.Accept(within(t), newChange("other"))
	must(t, err)
	receive(t, other)
	close(release)
	for i := range uint64(changes) {
		if got := receive(t, busy); got != i+1 {
			t.Fatalf("change %d has the sequence %d", i+1, got)
		}
	}
	info, err := b.js.Consumer(within(t), triggersStream, changeQueue.name)
	must(t, err)
	for info.CachedInfo().NumAckPending > 0 {
		_, err := info.Info(within(t))
		must(t, err)
	}
}

// A change that the server sent over a connection that broke is handled after the reconnection,
// before a later one of its organization.
func TestConsumeChanges_LostConnection(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	other, err := Connect(t.Context(), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer func() { must(t, other.Close()) }()
	got := make(chan string, 2)
	defer consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeChanges(ctx, taking, func(_ contextT, tr events.Trigger, _ events.Taken) error { got <- tr.ID; return nil })
	})()
	b.wire.await(t, "$JS.API.CONSUMER.MSG.NEXT."+triggersStream+"."+changeQueue.name+" ", 1)
	b.wire.holdUp()
	lost, later := newChange("org"), newChange("org")
	_, err = other.Accept(within(t), lost)
	must(t, err)
	consumer, err := other.js.Consumer(within(t), triggersStream, changeQueue.name)
	must(t, err)
	for consumer.CachedInfo().NumAckPending == 0 {
		_, err := consumer.Info(within(t))
		must(t, err)
	}
	b.wire.cut()
	b.wire.release()
	_, err = other.Accept(within(t), later)
	must(t, err)
	for _, want := range []string{lost.ID, later.ID} {
		if id := receive(t, got); id != want {
			t.Errorf("the change %s is handled, want %s", id, want)
		}
	}
	for consumer.CachedInfo().NumAckPending > 0 {
		_, err := consumer.Info(within(t))
		must(t, err)
	}
}

// Changes that a process could not finish come again in the order of the log, before later
// ones. A finished change does not come again, unless an earlier one is unfinished.
func TestConsumeChanges_NextProcess(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	first, unfinished, waiting, later := newChange("org"), newChange("org"), newChange("org"), newChange("org")
	accept := func(list ...events.Trigger) {
		for _, tr := range list {
			_, err := b.Accept(within(t), tr)
			must(t, err)
		}
	}
	accept(first, unfinished, waiting)
	got := make(chan string, 3)
	stop := consuming(t, b, func(_, taking contextT) error {
		return b.ConsumeChanges(taking, taking, func(ctx contextT, tr events.Trigger, _ events.Taken) error {
			got <- tr.ID
			if tr.ID == unfinished.ID {
				<-ctx.Done()
			}
			return ctx.Err()
		})
	})
	if ids := []string{receive(t, got), receive(t, got)}; !slices.Equal(ids, []string{first.ID, unfinished.ID}) {
		t.Errorf("the first process gets %s, want %s and %s", ids, first.ID, unfinished.ID)
	}
	stop()
	accept(later)
	defer consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeChanges(ctx, taking, func(_ contextT, tr events.Trigger, _ events.Taken) error { got <- tr.ID; return nil })
	})()
	for i, want := range []string{unfinished.ID, waiting.ID, later.ID} {
		if id := receive(t, got); id != want {
			t.Errorf("change %d of the next process is %s, want %s", i, id, want)
		}
	}
}

func TestAccept_IdempotencyKey(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	once := func(org string, at time.Time) events.Trigger {
		tr := newTrigger(org)
		tr.IdempotencyKey, tr.CreatedAt = "abc", storage.Time{Time: at}
		return tr
	}
	first := once("org", noon)
	sequence, err := b.Accept(within(t), first)
	must(t, err)
	if again, err := b.Accept(within(t), first); err != nil || again != sequence {
		t.Errorf("same trigger again: %d, %v", again, err)
	}
	_, err = b.Accept(within(t), once("org", noon.Add(storage.IdempotencyRetention-time.Millisecond)))
	var already *events.AlreadyAccepted
	if !errors.As(err, &already) || already.First.ID != first.ID || already.First.Sequence != sequence {
		t.Errorf("second trigger with the key: %v", err)
	}
	for at, want := range map[time.Time]string{noon: first.ID, noon.Add(storage.IdempotencyRetention): ""} {
		if got, err := b.FirstRequest(within(t), once("org", at)); got.ID != want || err != nil {
			t.Errorf("FirstRequest of a trigger at %s is %q, %v, want %q", at, got.ID, err, want)
		}
	}
	if _, err := b.Accept(within(t), once("other", noon)); err != nil {
		t.Errorf("another organization's trigger: %v", err)
	}
	if later, err := b.Accept(within(t), once("org", noon.Add(storage.IdempotencyRetention))); err != nil || later <= sequence {
		t.Errorf("a day later: %d, %v", later, err)
	}
}

func TestAccept_ConcurrentIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	var wg sync.WaitGroup
	var mu sync.Mutex
	winners, firsts := map[string]bool{}, map[string]bool{}
	for range 20 {
		wg.Go(func() {
			tr := newTrigger("org")
			tr.IdempotencyKey = "abc"
			_, err := b.Accept(t.Context(), tr)
			mu.Lock()
			defer mu.Unlock()
			var already *events.AlreadyAccepted
			switch {
			case err == nil:
				winners[tr.ID] = true
			case errors.As(err, &already):
				firsts[already.First.ID] = true
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 || !reflect.DeepEqual(winners, firsts) {
		t.Errorf("accepted triggers are %v, the others got %v", winners, firsts)
	}
}

func TestSlices_Consumed(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	reached := func(number int, want bool) {
		t.Helper()
		if got, err := b.Reached(within(t), tr, number); got != want || err != nil {
			t.Errorf("Reached(%d) = %v, %v", number, got, err)
		}
	}
	reached(1, false)
	slice := newSlice(tr, 1)
	must(t, b.PutSlice(within(t), slice))
	must(t, b.PutSlice(within(t), slice)) // the repeat is not stored
	reached(1, true)
	reached(11, false)
	reached(0, false)
	got := make(chan events.Slice, 9)
	stop := consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeSlices(ctx, taking, 3, func(ctx contextT, s events.Slice, _ events.Taken) error {
			got <- s
			return b.PutReceipt(ctx, newReceipt(tr, s.Key()))
		})
	})
	if s := receive(t, got); !reflect.DeepEqual(s, slice) {
		t.Errorf("consumed slice is %+v, want %+v", s, slice)
	}
	stop()
	if len(got) != 0 {
		t.Errorf("slice was redelivered %d times", len(got))
	}
	reached(1, true) // the receipt shows it
	emptied(t, b)
}

// A slice that the queue lost can be put again, although the queue remembers its message
// id.
func TestPutSlice_AfterLoss(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	slice := newSlice(newTrigger("org"), 3)
	must(t, b.PutSlice(within(t), slice))
	work, err := b.js.Stream(within(t), workStream)
	must(t, err)
	must(t, work.Purge(within(t)))
	slice.Resumed = true
	must(t, b.PutSlice(within(t), slice))
	if reached, err := b.Reached(within(t), slice.Trigger, 3); !reached || err != nil {
		t.Errorf("slice is missing: %v", err)
	}
	must(t, b.PutSlice(within(t), slice))
	if d := depth(t, b); d.Slices != 1 {
		t.Errorf("slice is stored %d times", d.Slices)
	}
}

func depth(t *testing.T, b *bus) Depth {
	t.Helper()
	f, err := b.NewInspector().Look(within(t), 0, 0)
	must(t, err)
	return f.Depth
}

func TestReceipts_Followed(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	has := func(org, trigger, key string, want bool) {
		t.Helper()
		if got, err := b.HasReceipt(within(t), org, trigger, key); got != want || err != nil {
			t.Errorf("HasReceipt(%s, %s, %s) = %v, %v", org, trigger, key, got, err)
		}
	}
	has("org", tr.ID, "s1", false)
	must(t, b.PutReceipt(within(t), newReceipt(tr, "s1")))
	must(t, b.PutReceipt(within(t), newReceipt(tr, "s1")))
	must(t, b.PutReceipt(within(t), newReceipt(tr, "s2")))
	has("org", tr.ID, "s1", true)
	has("org", tr.ID, "s", false)
	has("org", tr.ID, "s11", false)
	has("other", tr.ID, "s1", false)
	has("org", "trg_other", "s1", false)
	var keys []string
	tailReceipts(t, b.Conn, 0, 2, func(r events.Sequenced[events.Receipt]) {
		keys = append(keys, r.Value.Key)
		if time.Since(r.Stored).Abs() > time.Minute {
			t.Errorf("receipt %s was stored at %s", r.Value.Key, r.Stored)
		}
	})
	if strings.Join(keys, " ") != "s1 s2" {
		t.Errorf("stored receipts are %v", keys)
	}
}

func putRetries(t *testing.T, c *bus, retries []events.Retry) error {
	t.Helper()
	_, err := c.PutRetries(within(t), retries)
	return err
}

// A repeated put stores one message. Two different retries of one home are both stored.
func TestPutRetries_Repeated(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr, due := newTrigger("org"), time.Now().Add(time.Hour)
	alone := newRetry(tr, 1, due, "home_1")
	must(t, putRetries(t, b, []events.Retry{alone, newRetry(tr, 1, due, "home_1", "home_2"), newRetry(tr, 2, due, "home_1")}))
	must(t, putRetries(t, b, []events.Retry{alone}))
	must(t, putRetries(t, b, nil))
	if d := depth(t, b); d.RetriesWaiting != 3 {
		t.Errorf("%d retries wait, want 3", d.RetriesWaiting)
	}
}

// A retry is due at its time, rounded to a whole second, and not before.
func TestRetries_Due(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	type arrival struct {
		retry events.Retry
		at    time.Time
	}
	got := make(chan arrival, 9)
	stop := consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeRetries(ctx, taking, 2, func(_ contextT, r events.Retry, taken events.Taken) error {
			if taken.Redelivered {
				t.Error("first delivery counts as redelivered")
			}
			got <- arrival{r, time.Now()}
			return nil
		})
	})
	for _, q := range retryQueues() { // every lane waits for messages
		b.wire.await(t, "$JS.API.CONSUMER.MSG.NEXT."+q.stream+"."+q.name+" ", 1)
	}
	tr, due := newTrigger("org"), time.Now().Add(1200*time.Millisecond)
	alone := newRetry(tr, 1, due, "home_1")
	group := newRetry(tr, 1, due, "home_1", "home_2")
	again := newRetry(tr, 2, due, "home_1")
	must(t, putRetries(t, b, []events.Retry{alone, group, again}))
	want := map[string]events.Retry{alone.Key(): alone, group.Key(): group, again.Key(): again}
	for range 3 {
		a := receive(t, got)
		w := want[a.retry.Key()]
		w.DueAt = storage.Time{Time: w.DueAt.Truncate(time.Millisecond)} // the stored form
		if !reflect.DeepEqual(a.retry, w) {
			t.Errorf("consumed retry is %+v, want %+v", a.retry, w)
		}
		delete(want, a.retry.Key())
		if early := due.Sub(a.at); early > 0 {
			t.Errorf("retry came %s early", early)
		}
	}
	stop()
	if len(got) != 0 {
		t.Errorf("%d more retries came", len(got))
	}
	if d := depth(t, b); d.RetriesWaiting != 0 {
		t.Errorf("%d retries remain", d.RetriesWaiting)
	}
}

// Any number of due retries of one organization does not delay another organization's
// retries, or parked walks.
func TestRetries_FairTurns(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	due := time.Now().Add(-time.Second)
	of := func(org string) events.Retry { return newRetry(newTrigger(org), 1, due, "home") }
	busy := of("busy")
	other := of("other")
	for i := 0; retryLane(&other) == retryLane(&busy); i++ {
		other = of("other-" + strconv.Itoa(i))
	}
	walk := events.Retry{Trigger: newTrigger("busy"), DueAt: storage.Time{Time: due}, Walk: &events.Slice{Trigger: newTrigger("busy")}}
	const many = 20
	for range many {
		must(t, putRetries(t, b, []events.Retry{of("busy")}))
	}
	busyTaken, others := make(chan struct{}, many), make(chan string, 2)
	release := make(chan struct{})
	stop := consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeRetries(ctx, taking, 2, func(_ contextT, r events.Retry, _ events.Taken) error {
			if r.Trigger.OrganizationID == "busy" && r.Walk == nil {
				busyTaken <- struct{}{}
				<-release
				return nil
			}
			others <- r.Trigger.OrganizationID
			return nil
		})
	})
	receive(t, busyTaken) // it holds its share of the slots
	must(t, putRetries(t, b, []events.Retry{other}))
	if got := receive(t, others); got != other.Trigger.OrganizationID {
		t.Errorf("got %s", got)
	}
	must(t, putRetries(t, b, []events.Retry{walk}))
	receive(t, others)
	close(release)
	for range many - 1 {
		receive(t, busyTaken)
	}
	stop()
}

// The triggers of a schedule that follows prices have an order. Of two candidates for
// the next trigger, one is stored.
func TestAccept_NextRun(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	prices := func(org, schedule string, last events.Trigger) events.Trigger {
		tr := newTrigger(org)
		tr.ScheduleID, tr.Follows = schedule, last.Sequence
		return tr
	}
	last, err := b.LastOf(within(t), "org", "sch")
	if err != nil || last.ID != "" {
		t.Fatalf("last trigger before the first is %+v, %v", last, err)
	}
	first := prices("org", "sch", last)
	sequence, err := b.Accept(within(t), first)
	must(t, err)
	if _, err := b.Accept(within(t), prices("org", "sch", last)); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("second candidate: %v", err)
	}
	for _, other := range []events.Trigger{prices("org", "sch_2", events.Trigger{}), prices("other", "sch", events.Trigger{})} {
		_, err := b.Accept(within(t), other)
		must(t, err)
	}
	if last, err = b.LastOf(within(t), "org", "sch"); err != nil || last.ID != first.ID || last.Sequence != sequence {
		t.Errorf("last trigger is %+v, %v", last, err)
	}
	if newest, err := b.Newest(within(t), "org"); err != nil || newest.ScheduleID != "sch_2" {
		t.Errorf("organization's newest trigger is %+v, %v", newest, err)
	}
	_, err = b.Accept(within(t), prices("org", "sch", last))
	must(t, err)
}

// A message that NATS can never store does not count as an outage, because workers wait
// for the end of an outage.
func TestPublish_TooLarge(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	large := strings.Repeat("x", 9<<20)
	tr.RequestID = large
	for what, err := range map[string]error{
		"a receipt": b.PutReceipt(within(t), events.Receipt{
			TriggerID: tr.ID, OrganizationID: "org", Key: "s0", Deliveries: []events.Delivery{{HomeID: "h", Reason: large}},
		}),
		"a retry": putRetries(t, b, []events.Retry{{Trigger: tr}}),
	} {
		if err == nil || errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "max_payload") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWholeSecond_RoundsUp(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{
		0: 0, 1: time.Second, time.Second - 1: time.Second, time.Second: time.Second, time.Second + 1: 2 * time.Second,
	} {
		if got := wholeSecond(noon.Add(in)); !got.Equal(noon.Add(want)) {
			t.Errorf("%s becomes %s", in, got.Sub(noon))
		}
	}
}

func TestStateSubject_RoundTrip(t *testing.T) {
	ref := storage.Ref{Kind: storage.KindWebhookEndpoint, Org: "_", ID: "a-Z_9"}
	got, err := parseStateSubject(stateSubject(ref))
	if err != nil || got != ref {
		t.Errorf("subject %s reads as %v, %v", stateSubject(ref), got, err)
	}
	for _, subject := range []string{statePrefix + "home.org", statePrefix + "home.org.a.b", "x"} {
		if ref, err := parseStateSubject(subject); err == nil {
			t.Errorf("invalid subject %s reads as %v", subject, ref)
		}
	}
}

// The server denies deletions in the streams of record, except that STATE allows the
// deletion of a message: a deleted organization's records are overwritten.
func TestStreams_DeletionDenied(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	_, err := b.Accept(within(t), tr)
	must(t, err)
	must(t, b.PutReceipt(within(t), newReceipt(tr, "s0")))
	_, err = b.StateLog().Append(within(t), storage.Write{Ref: storage.KindHome.Ref("org", "h"), At: noon, Value: []byte(`{}`)})
	must(t, err)
	for _, name := range []string{stateStream, triggersStream, receiptsStream} {
		s, err := b.js.Stream(within(t), name)
		must(t, err)
		for what, err := range map[string]error{"purge": s.Purge(within(t)), "deletion of a message": s.DeleteMsg(within(t), 1)} {
			if name == stateStream && what == "deletion of a message" {
				must(t, err)
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "not permitted") {
				t.Errorf("%s: %s returns %v", name, what, err)
			}
		}
	}
}

// Every process sets up the same streams again.
func TestConnect_Twice(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	must(t, b.PutSlice(within(t), newSlice(newTrigger("org"), 0)))
	second, err := Connect(within(t), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer second.Close()
	before, err := b.Streams(within(t))
	must(t, err)
	if after, err := second.Streams(within(t)); err != nil || after.Identity != before.Identity || before.Identity == "" {
		t.Errorf("the streams were %+v and are %+v, %v", before, after, err)
	}
	if f, err := second.NewInspector().Look(within(t), 0, 0); err != nil || f.Depth.Slices != 1 {
		t.Errorf("second connection finds %+v, %v", f, err)
	}
}

func TestConnect_NoServer(t *testing.T) {
	t.Parallel()
	_, err := Connect(within(t), "nats://127.0.0.1:1", streamOptions, discard)
	if err == nil || !strings.Contains(err.Error(), "nats://127.0.0.1:1") || !strings.Contains(err.Error(), "--nats") {
		t.Errorf("got %v", err)
	}
}

// After the server has stopped, every call soon returns ErrUnavailable.
func TestConn_ServerStopped(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	must(t, b.server.Stop(patience))
	defer b.nc.Close() // no data is left to flush
	b.publishWait = 50 * time.Millisecond
	tr := newTrigger("org")
	once := tr
	once.IdempotencyKey = "abc"
	state := b.StateLog()
	w := storage.Write{Ref: storage.KindHome.Ref("org", "h"), At: noon, Value: []byte(`{}`)}
	var err error
	unavailable := func(what string) {
		t.Helper()
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", what, err)
		}
	}
	_, err = b.Accept(within(t), tr)
	unavailable("Accept")
	_, err = b.Accept(within(t), once)
	unavailable("Accept once")
	err = b.PutSlice(within(t), newSlice(tr, 0))
	unavailable("PutSlice")
	err = putRetries(t, b, []events.Retry{newRetry(tr, 1, noon, "h")})
	unavailable("PutRetries")
	err = b.PutReceipt(within(t), newReceipt(tr, "s0"))
	unavailable("PutReceipt")
	_, err = b.HasReceipt(within(t), "org", tr.ID, "s0")
	unavailable("HasReceipt")
	_, err = b.Reached(within(t), tr, 0)
	unavailable("Reached")
	_, err = b.Streams(within(t))
	unavailable("Streams")
	_, err = state.Append(within(t), w)
	unavailable("Append")
	_, err = state.AppendBatch(within(t), []storage.Write{w, w})
	unavailable("AppendBatch")
	_, err = state.State(within(t))
	unavailable("State")
	if _, err := b.NewInspector().Look(within(t), 0, 0); err == nil {
		t.Error("Look succeeded")
	}
	if b.Connected() {
		t.Error("Connected reports true")
	}
}
