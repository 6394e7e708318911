package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
)

func usage(t *testing.T, l *Ledger, org string) events.Usage {
	t.Helper()
	u, err := l.Usage(org)
	must(t, err)
	return u
}

// TestUsage_FollowsTheTriggers checks the usage of triggers until they are pruned.
func TestUsage_FollowsTheTriggers(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	first, other := trigger("acme", "trg_1", 0, 2), trigger("bolt", "trg_2", 0, 1)
	accept(t, l, first, other)
	accepted := usage(t, l, "acme")
	if accepted.Waiting != 1 || accepted.Bytes == 0 {
		t.Fatalf("after a trigger: %+v", accepted)
	}
	postponed := slice(first, 0, true, delivery("h1", events.OutcomeDelivered, 1), delivery("h2", events.OutcomeRetrying, 1))
	const stored = 5000
	postponed.RetryBytes = stored
	fold(t, l, postponed)
	retrying := usage(t, l, "acme")
	if retrying.Waiting != 1 || retrying.Deliveries != 2 || retrying.Bytes < accepted.Bytes+stored || retrying.Retrying != stored {
		t.Errorf("after a slice: %+v", retrying)
	}
	fold(t, l, retry(first, "r1", delivery("h2", events.OutcomeDelivered, 2)))
	if done := usage(t, l, "acme"); done.Waiting != 0 || done.Deliveries != 2 || done.Bytes <= accepted.Bytes || done.Bytes >= retrying.Bytes {
		t.Errorf("after completion: %+v", done)
	}
	must(t, l.Prune(noon.Add(time.Minute)))
	for _, org := range []string{"acme", "bolt"} {
		if u := usage(t, l, org); u != (events.Usage{}) {
			t.Errorf("%s: usage of pruned triggers is %+v", org, u)
		}
	}
}

// TestUsage_UnknownRetrySizes checks that retries without a size do not change the average of the
// others.
func TestUsage_UnknownRetrySizes(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	tr := trigger("acme", "trg_1", 0, 2)
	accept(t, l, tr)
	fold(t, l, slice(tr, 0, true, delivery("h1", events.OutcomeRetrying, 1), delivery("h2", events.OutcomeRetrying, 1)))
	if got := usage(t, l, "acme").Retrying; got != 2*retryBytes {
		t.Errorf("two retries without a size use %d bytes", got)
	}
	sized := retry(tr, "r1", delivery("h1", events.OutcomeRetrying, 2))
	sized.RetryBytes = 1000
	fold(t, l, sized)
	if got := usage(t, l, "acme").Retrying; got != 2*1000 {
		t.Errorf("two retries use %d bytes, want as many as the one with a size", got)
	}
}

// TestUsage_Sizes checks that the usage has the bytes that other streams store for a trigger.
func TestUsage_Sizes(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.opt.KeepTriggers = 4 * l.opt.Keep
	quiet, busy := trigger("quiet", "trg_1", 0, 1), trigger("busy", "trg_2", 0, 1)
	busy.Notified = 50
	accept(t, l, quiet, busy)
	before := usage(t, l, "quiet").Bytes
	if before < 4*noticeBytes {
		t.Errorf("a trigger whose log keeps it four times as long counts %d bytes", before)
	}
	if more := usage(t, l, "busy").Bytes - before; more < 50*taskBytes {
		t.Errorf("a trigger with 50 endpoints counts %d bytes more", more)
	}
	notice := events.Receipt{TriggerID: "evt_1", OrganizationID: "quiet", Key: "n1.ep", EventType: "flex_alert", Deliveries: []events.Delivery{delivery("", events.OutcomeFailed, 1)}}
	fold(t, l, notice)
	if u := usage(t, l, "quiet"); u.Bytes <= before || u.Waiting != 1 {
		t.Errorf("after the receipt of a notice the usage is %+v, %d bytes before", u, before)
	}
	must(t, l.Prune(noon.Add(time.Minute)))
	if u := usage(t, l, "quiet"); u != (events.Usage{}) {
		t.Errorf("the usage of an expired notice is %+v", u)
	}
}

func TestQuota_NamesTheLimit(t *testing.T) {
	t.Parallel()
	q := events.Quota{Waiting: 2, Bytes: 100}
	for want, u := range map[string]events.Usage{
		"": {Waiting: 1, Bytes: 99}, "max-waiting": {Waiting: 2}, "max-history": {Bytes: 100},
	} {
		err := q.Check("acme", u)
		if want == "" && err == nil {
			continue
		}
		if refused, ok := err.(*events.QuotaError); !ok || refused.Setting != want { //nolint:errorlint // the error is not wrapped
			t.Errorf("%+v: %v, want %q", u, err, want)
		}
	}
	if err := (events.Quota{}).Check("acme", events.Usage{Waiting: 1 << 20, Bytes: 1 << 50}); err != nil {
		t.Errorf("without a quota: %v", err)
	}
}

// CheckHistory refuses OpenADR changes of an organization whose history is full. Waiting triggers
// do not matter.
func TestQuota_History(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	accept(t, l, trigger("full", "trg_1", 0, 1), trigger("other", "trg_2", 0, 1))
	fold(t, l, slice(trigger("full", "trg_1", 0, 1), 0, true, delivery("h1", events.OutcomeDelivered, 1)))
	l.opt.Quota = events.Quota{Waiting: 1, Bytes: usage(t, l, "full").Bytes}
	var refused *events.QuotaError
	if err := l.CheckHistory("full"); !errors.As(err, &refused) || refused.Setting != "max-history" || refused.Org != "full" {
		t.Errorf("a full history ends with %v", err)
	}
	if err := l.CheckHistory("other"); err != nil {
		t.Errorf("a history below the quota ends with %v", err)
	}
}

// repeats is a TriggerLog that has every request already.
type repeats struct{ acceptor }

func (*repeats) FirstRequest(_ context.Context, t events.Trigger) (events.Trigger, error) {
	return t, nil
}

// The repeat of an accepted request is never beyond the quota.
func TestQuota_RepeatedRequest(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.opt.Quota.Waiting = 1
	accept(t, l, trigger("org", "trg_1", 0, 1))
	repeat := trigger("org", "trg_2", 0, 1)
	if err := l.Log(&repeats{}).Admit(t.Context(), repeat); err == nil {
		t.Error("a trigger beyond the quota is admitted")
	}
	repeat.IdempotencyKey = "key"
	if err := l.Log(&repeats{}).Admit(t.Context(), repeat); err != nil {
		t.Errorf("the repeat of a request is refused: %v", err)
	}
	if err := l.Log(&acceptor{}).Admit(t.Context(), repeat); err == nil {
		t.Error("a first request beyond the quota is admitted")
	}
}

// The health of an endpoint stays while its last success or its last failure is recent.
func TestPrune_Health(t *testing.T) {
	t.Parallel()
	for _, order := range [][]events.Outcome{{events.OutcomeFailed, events.OutcomeDelivered}, {events.OutcomeDelivered, events.OutcomeFailed}} {
		l := newLedger(t)
		for i, outcome := range order {
			d, tr := delivery("h1", outcome, 1), trigger("org", fmt.Sprint("trg_", i), 0, 1)
			d.Milliseconds, d.At = 1, at(time.Duration(i)*time.Hour)
			accept(t, l, tr)
			fold(t, l, slice(tr, 0, true, d))
		}
		for _, tt := range []struct {
			before time.Duration
			stays  bool
		}{{30 * time.Minute, true}, {2 * time.Hour, false}} {
			must(t, l.Prune(noon.Add(tt.before)))
			if h, err := l.Health("org", "ep"); err != nil || h.LastFailureAt.IsZero() == tt.stays {
				t.Errorf("%v, pruned before %s: %+v, %v", order, tt.before, h, err)
			}
		}
	}
}

func TestMultiples_OutgrownHistories(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	small, large := trigger("small", "trg_1", 0, 1), trigger("large", "trg_2", 0, 1)
	accept(t, l, small, large)
	wants := func(quota int64, want map[string]int) {
		t.Helper()
		l.opt.Quota.Bytes = quota
		got, err := l.Multiples()
		must(t, err)
		if !maps.Equal(got, want) {
			t.Errorf("with a quota of %d: %v, want %v", quota, got, want)
		}
	}
	size := usage(t, l, "small").Bytes
	wants(0, nil)
	wants(size, nil)
	outgrown := slice(large, 0, true, delivery("h1", events.OutcomeRetrying, 1))
	outgrown.RetryBytes = 1 << 20
	fold(t, l, outgrown)
	wants(usage(t, l, "large").Bytes/10, map[string]int{"large": events.RetriesWait - 1}) // its retries may go on
	wants(usage(t, l, "large").Bytes/3, map[string]int{"large": 3})
	grown := usage(t, l, "large")
	wants(1, map[string]int{"large": int(grown.Bytes - grown.Retrying), "small": int(size)})
}

// TestPrune_DeletedOrganization checks that all data of a deleted organization goes at
// once, and that of others stays.
func TestPrune_DeletedOrganization(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	gone, stays := trigger("gone", "trg_1", 0, 1), trigger("stays", "trg_2", 0, 1)
	gone.ScheduleID, stays.ScheduleID = "schedule", "schedule"
	accept(t, l, gone, stays)
	for _, of := range []events.Trigger{gone, stays} {
		fold(t, l, slice(of, 0, true, delivery("h1", events.OutcomeDelivered, 1)))
	}
	left := func() (keys int) {
		must(t, l.file.View(func(tx *bbolt.Tx) error {
			for _, bucket := range buckets {
				must(t, tx.Bucket([]byte(bucket)).ForEach(func(k, _ []byte) error { keys++; return nil }))
			}
			return nil
		}))
		return keys
	}
	const sequences = 2 // keys that belong to no organization
	before := left() - sequences
	l.opt.Erased = func(org string) (bool, error) { return org == "gone", nil }
	must(t, l.Prune(noon.Add(-time.Hour)))
	if after := left() - sequences; after*2 != before {
		t.Errorf("%d keys of %d are left, want one half", after, before)
	}
	if usage(t, l, "gone") != (events.Usage{}) || usage(t, l, "stays").Deliveries != 1 {
		t.Errorf("the usage is %+v and %+v", usage(t, l, "gone"), usage(t, l, "stays"))
	}
}

// The file keeps no bytes of what was deleted: neither of triggers, nor of the health of
// endpoints, which is deleted later.
func TestPrune_DeletedBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, path)
	tr := trigger("org", "trg_1", 0, 1)
	accept(t, l, tr)
	deliveries := make([]events.Delivery, 500) // bbolt reuses the first pages by itself
	for i := range deliveries {
		deliveries[i] = delivery("resident", events.OutcomeDelivered, 1)
		deliveries[i].EndpointID, deliveries[i].Milliseconds = fmt.Sprint("ep_", i), 1
	}
	fold(t, l, slice(tr, 0, true, deliveries...))
	for _, c := range []struct {
		before            time.Time
		triggers, healths bool
	}{
		{noon, true, true}, {noon.Add(time.Millisecond), false, true}, {noon.Add(time.Hour), false, false},
	} {
		must(t, errors.Join(l.Prune(c.before), l.Close()))
		l = openLedger(t, path)
		file, err := os.ReadFile(path) //nolint:gosec // of the test itself
		must(t, err)
		if triggers, healths := bytes.Contains(file, []byte("resident")), bytes.Contains(file, []byte("ep_")); triggers != c.triggers || healths != c.healths {
			t.Errorf("after the deletion up to %s the file has triggers: %v, healths: %v; want %v and %v", c.before, triggers, healths, c.triggers, c.healths)
		}
	}
	must(t, l.Close())
}
