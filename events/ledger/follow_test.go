package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// source is an in-memory Source. Without a clock its time is noon.
type source struct {
	clock    func() time.Time
	identity string
	triggers []events.Sequenced[events.Trigger]
	receipts []events.Sequenced[events.Receipt]
	since    time.Time // no receipt has expired since then
	after    []uint64  // the requested start sequences
}

func (s *source) Streams(context.Context) (events.Streams, error) {
	now := noon
	if s.clock != nil {
		now = s.clock()
	}
	trigger, receipt := lastOf(s.triggers), lastOf(s.receipts)
	return events.Streams{Identity: s.identity, LastTrigger: trigger, LastReceipt: receipt, NewestTrigger: trigger, NewestReceipt: receipt, ReceiptsSince: s.since, Now: now}, nil
}

func lastOf[T any](list []events.Sequenced[T]) uint64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].Sequence
}

func (s *source) TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error {
	return hand(ctx, s.triggers, after, apply)
}

func (s *source) TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error {
	s.after = append(s.after, after)
	return hand(ctx, s.receipts, after, apply)
}

func hand[T any](ctx context.Context, all []events.Sequenced[T], after uint64, apply func([]events.Sequenced[T]) error) error {
	if after < uint64(len(all)) {
		if err := apply(all[after:]); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// followUntil follows a source until a condition holds.
func followUntil(t *testing.T, l *Ledger, s *source, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Follow(ctx, s) }()
	for {
		changed := l.Changed()
		if holds() {
			break
		}
		select {
		case <-changed:
		case err := <-done:
			t.Fatalf("following ended with %v", err)
		}
	}
	cancel()
	must(t, <-done)
}

// pausing is a source whose receipts come when it goes on.
type pausing struct {
	source
	goOn chan struct{}
}

func (p *pausing) TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error {
	select {
	case <-p.goOn:
		return p.source.TailReceipts(ctx, after, apply)
	case <-ctx.Done():
		return nil
	}
}

// A ledger that is rebuilt shows its triggers first. Until it has their receipts it is
// behind, and they do not count as waiting.
func TestFollow_ReceiptsAfterTriggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(filepath.Join(t.TempDir(), "ledger.db"), Options{
			Keep: time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon }, Quota: events.Quota{Waiting: 2},
		})
		must(t, err)
		var triggers []events.Trigger
		var receipts []events.Receipt
		for i := range 3 {
			tr := trigger("org", fmt.Sprint("trg_", i), 0, 1)
			triggers, receipts = append(triggers, tr), append(receipts, slice(tr, 0, i > 0, delivery("h1", events.OutcomeDelivered, 1)))
		}
		s := &pausing{source{identity: "a", triggers: sequenced(triggers), receipts: sequenced(receipts)}, make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Follow(ctx, s) }()
		must(t, l.AwaitTriggers(t.Context()))
		log := l.Log(&acceptor{})
		if _, err := log.Accept(t.Context(), trigger("org", "trg_3", 0, 1)); err != nil || !l.Behind() {
			t.Errorf("before the receipts a trigger is refused: %v", err)
		}
		whole := make(chan error, 1)
		go func() { whole <- l.AwaitReceipts(t.Context()) }()
		synctest.Wait()
		if len(whole) > 0 {
			t.Error("AwaitReceipts returns before the receipts")
		}
		if lag := l.Lag(4, 3); lag != 1+3 {
			t.Errorf("before the receipts the ledger lags by %d messages", lag)
		}
		close(s.goOn)
		must(t, <-whole)
		l.opt.Quota.Waiting = 1 // one walk has not ended
		if _, err := log.Accept(t.Context(), trigger("org", "trg_3", 0, 1)); err == nil || l.Behind() {
			t.Error("after the receipts a trigger beyond the quota is accepted")
		}
		if lag := l.Lag(0, 2); lag != 0 { // an inspection before the last receipt
			t.Errorf("after the receipts the ledger lags by %d messages", lag)
		}
		cancel()
		must(t, <-done)
		must(t, l.Close())
	})
}

// A source that lost its latest messages reuses sequences that the ledger has folded.
func TestFollow_SourceLostItsEnd(t *testing.T) {
	s := &source{identity: "one", triggers: sequenced([]events.Trigger{
		trigger("org", "trg_1", 0, 1), trigger("org", "trg_2", 0, 1), trigger("org", "trg_3", 0, 1),
	})}
	l := newLedger(t)
	folded := func(n int) func() bool {
		return func() bool {
			list, err := l.Recent("org", 10)
			must(t, err)
			return len(list) == n
		}
	}
	followUntil(t, l, s, folded(3))
	s.triggers = s.triggers[:1]
	followUntil(t, l, s, folded(1))
	s.triggers = append(s.triggers, events.Sequenced[events.Trigger]{Sequence: 2, Value: trigger("org", "trg_4", 0, 1)})
	followUntil(t, l, s, folded(2))
}

// A restart folds nothing twice, but everything if the source has lost its latest receipts.
func TestFollow_Restart(t *testing.T) {
	path, tr := filepath.Join(t.TempDir(), "ledger.db"), trigger("org", "trg_1", 0, 1)
	s := &source{identity: "one", triggers: sequenced([]events.Trigger{tr}), receipts: sequenced([]events.Receipt{
		slice(tr, 0, true, delivery("a", events.OutcomeRetrying, 1)), retry(tr, "r1.ep.a.1", delivery("a", events.OutcomeDelivered, 2)),
	})}
	for _, tt := range []struct {
		receipts int
		want     events.TriggerStatus
		after    uint64
	}{{2, events.TriggerCompleted, 0}, {2, events.TriggerCompleted, 2}, {1, events.TriggerRunning, 0}} {
		s.receipts = s.receipts[:tt.receipts]
		l := openLedger(t, path)
		l.begin(0, 0, math.MaxUint64, math.MaxUint64) // as at a start
		followUntil(t, l, s, func() bool { return !l.Behind() })
		if p, after := progress(t, l, tr), s.after[len(s.after)-1]; p.Status != tt.want || after != tt.after {
			t.Errorf("with %d receipts the trigger is %s, folded after %d, want %s after %d", tt.receipts, p.Status, after, tt.want, tt.after)
		}
		must(t, l.Close())
	}
}

// Follow deletes expired triggers.
func TestFollow_Prunes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, l := time.Now(), newLedger(t)
		clock := func() time.Time { return noon.Add(time.Since(began)) }
		l.opt.Now = clock
		tr := trigger("org", "trg_1", 0, 1)
		s := &source{clock: clock, identity: "one", triggers: sequenced([]events.Trigger{tr})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Follow(ctx, s) }()
		<-time.After(l.opt.Keep)
		progress(t, l, tr)
		<-time.After(2 * pruneEvery)
		if _, err := l.Progress("org", "trg_1"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("an expired trigger remains: %v", err)
		}
		cancel()
		must(t, <-done)
	})
}

// The triggers and the receipts are awaited, whichever come first.
func TestAwait_TriggersAndReceipts(t *testing.T) {
	l, tr := newLedger(t), trigger("org", "trg_1", 0, 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	l.begin(0, 0, 1, 1)
	fold(t, l, slice(tr, 0, true, delivery("a", events.OutcomeDelivered, 1)))
	if err := l.AwaitTriggers(ended); err == nil || l.AwaitReceipts(ended) == nil || !l.Behind() {
		t.Errorf("the ledger does not wait for its triggers: %v", err)
	}
	accept(t, l, tr)
	if err := errors.Join(l.AwaitTriggers(ended), l.AwaitReceipts(ended)); err != nil || l.Behind() {
		t.Errorf("the ledger has everything and waits: %v", err)
	}
}

func TestFollow_Catchup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, path)
	tr := trigger("org", "trg_1", 0, 2)
	s := &source{identity: "first", triggers: sequenced([]events.Trigger{tr}), receipts: sequenced([]events.Receipt{
		slice(tr, 0, true, delivery("a", events.OutcomeDelivered, 1), delivery("b", events.OutcomeRetrying, 1)),
	})}
	has := func(status events.TriggerStatus) func() bool {
		return func() bool {
			p, err := l.Progress("org", "trg_1")
			return err == nil && p.Status == status
		}
	}
	followUntil(t, l, s, has(events.TriggerRunning))
	must(t, l.Close())
	l = openLedger(t, path)
	s.receipts = append(s.receipts, events.Sequenced[events.Receipt]{Sequence: 2, Stored: noon.Add(time.Hour), Value: retry(tr, "r1.ep.b.1", delivery("b", events.OutcomeDelivered, 2))})
	followUntil(t, l, s, has(events.TriggerCompleted))
	if !slices.Equal(s.after, []uint64{0, 1}) {
		t.Errorf("receipts were requested after %v, want 0 and then 1", s.after)
	}
	other := &source{identity: "second", triggers: sequenced([]events.Trigger{trigger("org", "trg_9", 0, 1)})}
	followUntil(t, l, other, func() bool { _, err := l.Progress("org", "trg_9"); return err == nil })
	if _, err := l.Progress("org", "trg_1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("old trigger remains with new streams: %v", err)
	}
	must(t, l.Close())
}

// acceptor is a TriggerLog that assigns sequences.
type acceptor struct {
	sequence uint64
	last     events.Trigger
	err      error
}

func (a *acceptor) Admit(context.Context, events.Trigger) error { return nil }

func (a *acceptor) Accept(_ context.Context, t events.Trigger) (uint64, error) {
	a.sequence, a.last = a.sequence+1, t
	return a.sequence, a.err
}

func (a *acceptor) FirstRequest(context.Context, events.Trigger) (events.Trigger, error) {
	return events.Trigger{}, a.err
}

func (a *acceptor) Newest(context.Context, string) (events.Trigger, error) { return a.last, a.err }

func TestProgress_AwaitsAcceptedTriggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t)
		log := l.Log(&acceptor{})
		tr := trigger("org", "trg_1", 0, 0)
		took := func(do func()) time.Duration {
			began := time.Now()
			do()
			return time.Since(began)
		}
		await := func() { _, _ = l.Progress("org", "trg_1") }
		queries := map[string]func(){
			"Recent": func() { _, _ = l.Recent("org", 1) }, "LastRun": func() { _, _ = l.LastRun("org", "schedule") },
			"Usage": func() { _, _ = l.Usage("org") }, "Deliveries": func() { _, _, _ = l.Deliveries("org", events.DeliveryQuery{Limit: 1}) },
		}
		if d := took(await); d != 0 {
			t.Errorf("Progress without accepted triggers takes %s", d)
		}
		d := took(func() {
			if sequence, err := log.Accept(t.Context(), tr); sequence != 1 || err != nil {
				t.Errorf("Accept returns %d, %v", sequence, err)
			}
		})
		if d != 0 {
			t.Errorf("Accept takes %s without the ledger", d)
		}
		done := make(chan struct{})
		go func() { await(); close(done) }()
		fold(t, l, retry(trigger("org", "trg_0", 0, 0), "r1.ep.a.1")) // an unrelated receipt
		synctest.Wait()
		select {
		case <-done:
			t.Error("Progress returned before the ledger had the trigger")
		default:
		}
		accept(t, l, tr)
		if d := took(func() { <-done }); d != 0 {
			t.Errorf("Progress takes another %s", d)
		}
		// A ledger that lags delays one query after each trigger, by a second at most.
		for range 2 {
			if d := took(func() { _, _ = log.Accept(t.Context(), tr) }); d != 0 {
				t.Errorf("Accept takes %s", d)
			}
			for _, want := range []time.Duration{awaitTimeout, 0} {
				if d := took(await); d != want {
					t.Errorf("Progress takes %s without the ledger, want %s", d, want)
				}
			}
		}
		for name, query := range queries {
			_, _ = log.Accept(t.Context(), tr)
			if d := took(query); d != awaitTimeout {
				t.Errorf("%s takes %s without the ledger, want %s", name, d, awaitTimeout)
			}
		}
		_, _ = log.Accept(t.Context(), tr)
		l.begin(0, 0, 0, 0) // a new log counts from 1 again
		if d := took(await); d != 0 {
			t.Errorf("Progress takes %s for triggers of an earlier log", d)
		}
		refused := l.Log(&acceptor{err: storage.ErrUnavailable})
		if _, err := refused.Accept(t.Context(), tr); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("refusal becomes %v", err)
		}
	})
}

// A ledger neither skips nor deletes triggers that have not expired by the clock of the process,
// or by the clock of NATS.
func TestFollow_ClockDiffers(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, ahead := range map[string]time.Duration{"process ahead": year, "NATS ahead": -year} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := func() time.Time { return time.Now().Add(ahead) }
				l, err := Open(filepath.Join(t.TempDir(), "ledger.db"), Options{Keep: time.Hour, Log: slog.New(slog.DiscardHandler), Now: clock})
				must(t, err)
				tr := trigger("org", "trg_1", 0, 0)
				tr.CreatedAt = storage.Time{Time: time.Now().Add(min(0, ahead))} // the earlier clock is right
				s := &source{identity: "a", clock: time.Now, triggers: sequenced([]events.Trigger{tr})}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- l.Follow(ctx, s) }()
				<-time.After(2 * pruneEvery)
				if _, err := l.Progress("org", "trg_1"); err != nil {
					t.Errorf("a trigger of this hour: %v", err)
				}
				cancel()
				must(t, <-done)
				must(t, l.Close())
			})
		})
	}
}

// After a longer retention of receipts is set, a rebuilt ledger skips the triggers whose
// receipts have expired before. Their walks would run again. A trigger of the last day may
// have no receipt yet.
func TestFollow_ExpiredReceipts(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger.db"), Options{
		Keep: 20 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon },
	})
	must(t, err)
	defer l.Close()
	s := &source{identity: "a"}
	for i, days := range []int{10, 5, 0} {
		age := time.Duration(days)*24*time.Hour + time.Hour
		s.triggers = append(s.triggers, events.Sequenced[events.Trigger]{
			Sequence: uint64(i) + 1, Stored: noon.Add(-age), Value: trigger("org", fmt.Sprintf("trg_%d", days), -age, 1), //nolint:gosec // small
		})
	}
	for _, tt := range []struct {
		since time.Time
		want  []string
	}{
		{time.Time{}, []string{"trg_0", "trg_10", "trg_5"}},
		{noon.Add(-7 * 24 * time.Hour), []string{"trg_0", "trg_5"}},
		{noon, []string{"trg_0"}},
	} {
		s.since = tt.since
		s.identity += "'" // rebuilds the ledger
		followUntil(t, l, s, func() bool { return l.Shows(t.Context(), 3) == nil })
		var got []string
		walks, err := l.Unfinished(events.Walk{}, 10)
		must(t, err)
		for i := range walks {
			got = append(got, walks[i].Trigger.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("with receipts since %s the walks %q are unfinished, want %q", tt.since, got, tt.want)
		}
	}
}

func TestPrune_Periodic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ledger.db")
		l, err := Open(path, Options{Keep: time.Hour, Log: slog.New(slog.DiscardHandler), Now: time.Now})
		must(t, err)
		tr := trigger("org", "trg_1", 0, 0)
		tr.CreatedAt = storage.Time{Time: time.Now()}
		accept(t, l, tr)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.pruneRegularly(ctx, &source{clock: time.Now}) }()
		for _, tt := range []struct {
			wait time.Duration
			want bool
		}{{time.Hour, true}, {pruneEvery + time.Second, false}} {
			<-time.After(tt.wait)
			synctest.Wait()
			if _, err := l.Progress("org", "trg_1"); (err == nil) != tt.want {
				t.Errorf("after another %s: %v", tt.wait, err)
			}
		}
		cancel()
		must(t, <-done)
		must(t, l.Close())
	})
}

// notificationOf returns the trigger of an OpenADR notification.
func notificationOf(org, id string) events.Trigger {
	t := trigger(org, id, 0, 1)
	t.Change = &events.Change{}
	return t
}

// The quota limits triggers, but no notifications of OpenADR objects. Notifications do not
// use up the quota of triggers.
func TestLog_Quota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t)
		l.opt.Quota = events.Quota{Waiting: 1}
		accept(t, l, notificationOf("org", "trg_0"))
		log := l.Log(&acceptor{})
		if _, err := log.Accept(t.Context(), trigger("org", "trg_1", 0, 1)); err != nil {
			t.Errorf("trigger beside a notification is refused: %v", err)
		}
		accept(t, l, trigger("org", "trg_1", 0, 1))
		if _, err := log.Accept(t.Context(), trigger("org", "trg_2", 0, 1)); err == nil {
			t.Error("trigger beyond the quota is accepted")
		}
		if _, err := log.Accept(t.Context(), notificationOf("org", "trg_3")); err != nil {
			t.Errorf("notification is refused: %v", err)
		}
	})
}

// Notifications that the ledger does not show yet do not use up the quota of triggers either.
func TestLog_QuotaBesideNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t)
		l.opt.Quota = events.Quota{Waiting: 1}
		log := l.Log(&acceptor{})
		for n := range 3 {
			_, err := log.Accept(t.Context(), notificationOf("org", fmt.Sprint("trg_", n)))
			must(t, err)
		}
		if _, err := log.Accept(t.Context(), trigger("org", "trg_3", 0, 1)); err != nil {
			t.Errorf("a trigger beside notifications is refused: %v", err)
		}
		if _, err := log.Accept(t.Context(), trigger("org", "trg_4", 0, 1)); err == nil {
			t.Error("a trigger beyond the quota is accepted")
		}
	})
}

// Triggers that the streams have lost do not count towards the quota for ever.
func TestLog_QuotaAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{identity: "one", triggers: sequenced([]events.Trigger{trigger("other", "trg_1", 0, 1), trigger("other", "trg_2", 0, 1)})}
		l := newLedger(t)
		l.opt.Quota = events.Quota{Waiting: 1}
		followUntil(t, l, s, func() bool { return !l.Behind() })
		log := l.Log(&acceptor{sequence: 2})
		_, err := log.Accept(t.Context(), trigger("org", "trg_3", 0, 1))
		must(t, err)
		if _, err := log.Accept(t.Context(), trigger("org", "trg_4", 0, 1)); err == nil {
			t.Error("a trigger beyond the quota is accepted")
		}
		s.triggers = s.triggers[:1] // the log lost the trigger of org, too
		followUntil(t, l, s, func() bool { return !l.Behind() })
		if _, err := log.Accept(t.Context(), trigger("org", "trg_5", 0, 1)); err != nil {
			t.Errorf("beside a lost trigger: %v", err)
		}
	})
}

// slowLog stores a trigger in a second.
type slowLog struct{ acceptor }

func (*slowLog) Accept(context.Context, events.Trigger) (uint64, error) {
	<-time.After(time.Second)
	return 0, nil
}

// Triggers that arrive at the same time count towards the quota and the surplus.
func TestLog_SimultaneousTriggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t)
		l.opt.Quota = events.Quota{Waiting: 3}
		log := l.Log(&slowLog{})
		var accepted, refused atomic.Int64
		var all sync.WaitGroup
		for n := range 10 {
			all.Go(func() {
				if _, err := log.Accept(t.Context(), trigger("org", fmt.Sprint("trg_", n), 0, 1)); err != nil {
					refused.Add(1)
					return
				}
				accepted.Add(1)
			})
		}
		<-time.After(time.Millisecond)
		if _, err := log.Accept(t.Context(), trigger("other", "trg_1", 0, 1)); err != nil {
			t.Errorf("the trigger of another organization: %v", err)
		}
		all.Wait()
		if accepted.Load() != 3 || refused.Load() != 7 {
			t.Errorf("%d triggers are accepted and %d refused, with a quota of 3", accepted.Load(), refused.Load())
		}
		if _, err := log.Accept(t.Context(), trigger("org", "trg_11", 0, 1)); err != nil || len(l.accepting) != 0 {
			t.Errorf("afterwards: %v, %v", err, l.accepting)
		}
	})
}

// TestLog_LaggingLedger checks that a trigger does not wait for a ledger that lags because of
// another organization, and that the triggers that it does not show count towards the quota.
func TestLog_LaggingLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t)
		l.opt.Quota = events.Quota{Waiting: 2}
		log := l.Log(&acceptor{})
		began := time.Now()
		for n, over := range []bool{false, false, true} {
			tr := trigger("org", fmt.Sprint("trg_", n), 0, 1)
			err := log.Admit(t.Context(), tr)
			if err == nil {
				_, err = log.Accept(t.Context(), tr)
			}
			if (err != nil) != over {
				t.Errorf("trigger %d: %v", n, err)
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("the triggers wait %s for the ledger", d)
		}
		accept(t, l, trigger("org", "trg_0", 0, 1), trigger("org", "trg_1", 0, 1))
		if len(l.accepting) != 0 {
			t.Errorf("the ledger shows the triggers, and still counts %v", l.accepting)
		}
	})
}

// foldingLog folds each trigger before its response, as if the ledger were quicker.
type foldingLog struct {
	*acceptor
	t      *testing.T
	ledger *Ledger
	beside func() // between the fold and the response
}

func (f foldingLog) Accept(ctx context.Context, next events.Trigger) (uint64, error) {
	sequence, err := f.acceptor.Accept(ctx, next)
	accept(f.t, f.ledger, next)
	f.beside()
	return sequence, err
}

// A trigger that the ledger shows before its response counts once towards the quota.
func TestLog_QuickLedger(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.opt.Quota = events.Quota{Waiting: 2}
	kept, nested := &acceptor{}, false
	var log events.TriggerLog
	log = l.Log(foldingLog{kept, t, l, func() {
		if nested {
			return
		}
		nested = true
		if _, err := log.Accept(t.Context(), trigger("org", "trg_2", 0, 1)); err != nil {
			t.Errorf("the second trigger of two: %v", err)
		}
		if _, err := log.Accept(t.Context(), trigger("org", "trg_3", 0, 1)); err == nil {
			t.Error("a third trigger is accepted")
		}
	}})
	_, err := log.Accept(t.Context(), trigger("org", "trg_1", 0, 1))
	must(t, err)
}

// Triggers of an organization beside SurplusFrom uncompleted ones are surplus. Only
// notifications count earlier notifications.
func TestLog_Surplus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(t)
		kept := &acceptor{}
		log := l.Log(kept)
		accepted := func(next events.Trigger) bool {
			_, err := log.Accept(t.Context(), next)
			must(t, err)
			return kept.last.Surplus
		}
		surplus := func(org string) bool { return accepted(trigger(org, "trg_next", 0, 1)) }
		for n := range events.SurplusFrom + 1 {
			if got, want := surplus("org"), n >= events.SurplusFrom; got != want {
				t.Errorf("beside %d uncompleted triggers surplus is %t", n, got)
			}
			accept(t, l, trigger("org", fmt.Sprint("trg_", n), 0, 1))
		}
		if surplus("other") {
			t.Error("a trigger of another organization is surplus")
		}
		for n := range events.SurplusFrom {
			accept(t, l, notificationOf("notified", fmt.Sprint("trg_", n)))
		}
		if surplus("notified") {
			t.Error("a trigger beside notifications is surplus")
		}
		if !accepted(notificationOf("notified", "trg_next")) {
			t.Error("a notification beside others is not surplus")
		}
	})
}

// elsewhere is a source to which another process adds a trigger that arrives when a query asks
// for the state of the streams.
type elsewhere struct {
	source
	accepted atomic.Bool
	asked    chan struct{}
}

func (e *elsewhere) Streams(ctx context.Context) (events.Streams, error) {
	if !e.accepted.Load() {
		return events.Streams{Identity: e.identity, Now: noon}, nil
	}
	close(e.asked)
	return e.source.Streams(ctx)
}

func (e *elsewhere) TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error {
	select {
	case <-e.asked:
		return e.source.TailTriggers(ctx, after, apply)
	case <-ctx.Done():
		return nil
	}
}

// TestProgress_AcceptedElsewhere checks that a process finds a trigger that another process has
// just accepted.
func TestProgress_AcceptedElsewhere(t *testing.T) {
	for name, found := range map[string]func(*Ledger) error{
		"progress": func(l *Ledger) error { _, err := l.Progress("org", "trg_1"); return err },
		"deliveries": func(l *Ledger) error {
			_, _, err := l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", Limit: 1})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := Open(filepath.Join(t.TempDir(), "ledger.db"), Options{
					Keep: time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon },
				})
				must(t, err)
				s := &elsewhere{source: source{identity: "a", triggers: sequenced([]events.Trigger{trigger("org", "trg_1", 0, 1)})}, asked: make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- l.Follow(ctx, s) }()
				synctest.Wait()
				s.accepted.Store(true)
				if err := found(l); err != nil {
					t.Error(err)
				}
				cancel()
				must(t, <-done)
				must(t, l.Close())
			})
		})
	}
}
