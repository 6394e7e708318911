package jetstream

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// A process without settings of the streams leaves them as they are. A retention that is
// shorter than any setting is corrected.
func TestConnect_KeepsSettings(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	for _, tt := range []struct{ is, want time.Duration }{{1000 * time.Hour, 1000 * time.Hour}, {time.Hour, triggersAge}} {
		o := streamOptions
		o.TriggersAge, o.ReceiptsAge = tt.is, time.Hour
		must(t, b.MakeStreams(within(t), o))
		var log bytes.Buffer
		second, err := Connect(within(t), "", Options{}, slog.New(slog.NewTextHandler(&log, nil)), b.server.Option())
		must(t, err)
		if logged := strings.Contains(log.String(), `"settings of a stream changed" stream=GRIDHOOK_TRIGGERS`); logged != (tt.is != tt.want) {
			t.Errorf("after %s the log is\n%s", tt.is, log.String())
		}
		info, err := second.streamInfo(within(t), triggersStream)
		must(t, err)
		if info.Config.MaxAge != tt.want || second.ReceiptsAge() != receiptsAge {
			t.Errorf("after %s the triggers are kept for %s, want %s, and the receipts for %s", tt.is, info.Config.MaxAge, tt.want, second.ReceiptsAge())
		}
		must(t, second.Close())
	}
}

// A number of replicas that the server refuses changes no stream, and the log names no change.
func TestConnect_RefusedReplicas(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tr := newTrigger("org")
	must(t, b.PutSlice(within(t), newSlice(tr, 0)))
	var log bytes.Buffer
	_, err := Connect(within(t), "", Options{Replicas: 3}, slog.New(slog.NewTextHandler(&log, nil)), b.server.Option())
	if strings.Contains(log.String(), "settings of a stream") {
		t.Errorf("the log is\n%s", log.String())
	}
	if err == nil || !strings.Contains(err.Error(), "lower nats-replicas") {
		t.Fatalf("got %v", err)
	}
	if f, err := b.NewInspector().Look(within(t), 0, 0); err != nil || f.Depth.Slices != 1 {
		t.Errorf("after a refused start the queue has %+v, %v", f, err)
	}
}

// A stream of record is never made again.
func TestConnect_AsyncRecord(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	_, err := b.Accept(within(t), newTrigger("org"))
	must(t, err)
	cfg := jetstream.StreamConfig{Replicas: 3}
	cfg.Name = triggersStream
	must(t, b.adapt(within(t), &cfg, &jetstream.StreamInfo{Config: jetstream.StreamConfig{Name: triggersStream, Replicas: 1, PersistMode: jetstream.AsyncPersistMode}}))
	if s, err := b.Streams(within(t)); err != nil || s.LastTrigger != 1 {
		t.Errorf("the triggers end at %d, %v", s.LastTrigger, err)
	}
}

// A store that became smaller keeps the messages of its streams. The audit log of an operation
// does not grow any more.
func TestConnect_SmallerStore(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	audit := func() {
		must(t, b.PutAudit(within(t), storage.AuditEntry{OrganizationID: "acme", KeyID: "key_1", Operation: "createEndpoint"}))
	}
	audit()
	audit()
	for range 3 {
		must(t, b.PutFeedback(within(t), storage.Feedback{ID: storage.NewID("fb_", time.Now())}))
	}
	b.options.Store = 1
	must(t, b.MakeStreams(within(t), b.options))
	if list, err := b.Feedback(within(t), "", 10); err != nil || len(list) != 3 {
		t.Errorf("%d submissions are left of 3, %v", len(list), err)
	}
	audit()
	if list, err := b.Audit(within(t), storage.AuditFilter{}, "", 10); err != nil || len(list) != 2 || list[1].ID != auditID(2) {
		t.Errorf("the audit log has %+v, %v, want the last 2 of 3", list, err)
	}
}

// Streams says since when no receipt has expired, also after all have.
func TestStreams_ReceiptsSince(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	since := func() time.Time {
		s, err := b.Streams(within(t))
		must(t, err)
		return s.ReceiptsSince
	}
	must(t, b.PutReceipt(within(t), newReceipt(newTrigger("org"), "s0")))
	if got := since(); !got.IsZero() {
		t.Errorf("with every receipt the receipts begin at %s", got)
	}
	info, err := b.streamInfo(within(t), receiptsStream)
	must(t, err)
	cfg := info.Config
	cfg.DenyDelete, cfg.DenyPurge = false, false // an expired message leaves the same state as a deleted one
	must(t, b.js.DeleteStream(within(t), receiptsStream))
	stream, err := b.js.CreateStream(within(t), cfg)
	must(t, err)
	for key := range 2 {
		must(t, b.PutReceipt(within(t), newReceipt(newTrigger("org"), "s"+strconv.Itoa(key))))
	}
	last, err := stream.GetMsg(within(t), 2)
	must(t, err)
	for sequence := range uint64(2) { // the first, and then all
		must(t, stream.DeleteMsg(within(t), sequence+1))
		if got := since(); !got.Equal(last.Time) {
			t.Errorf("after %d of 2 receipts the receipts begin at %s, want %s", sequence+1, got, last.Time)
		}
	}
}

// In a store of any size, the streams of temporary data without limits for each organization
// take less than an eighth.
func TestConfigs_Store(t *testing.T) {
	sizes := map[string]int64{feedbackStream: feedbackSize, DeadStream: deadSize, auditStream: auditEntry, knownStream: 2 * knownSize}
	for _, store := range []int64{64 << 20, 1 << 30, 16 << 30, 1 << 40} {
		var bytes int64
		for _, c := range Configs(Options{Store: store}) {
			size := sizes[c.Name]
			if size > 0 && c.MaxMsgs < 1 {
				t.Errorf("%s has no limit in a store of %d bytes", c.Name, store)
			}
			bytes += c.MaxMsgs * size
		}
		if bytes > store/8 {
			t.Errorf("a store of %d bytes has %d bytes of temporary data", store, bytes)
		}
	}
}
