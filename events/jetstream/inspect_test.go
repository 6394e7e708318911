package jetstream

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func look(t *testing.T, i *Inspector, revision uint64) Finding {
	t.Helper()
	f, err := i.Look(within(t), revision, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestInspector_Healthy(t *testing.T) {
	b := newBus(t, t.TempDir())
	i := b.NewInspector()
	trigger := newTrigger("acme")
	for round := range 3 {
		if f := look(t, i, 0); f.Damage != nil || f.Recreated != nil || f.Depth.Receipt != uint64(round) {
			t.Fatalf("round %d: found %+v", round, f)
		}
		must(t, b.PutSlice(within(t), newSlice(trigger, round)))
		must(t, b.PutReceipt(within(t), newReceipt(trigger, "s"+strconv.Itoa(round))))
	}
}

// The error of a request names its stream. An inspection whose time is over asks no more.
func TestInspector_NoResponse(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newBus(t, t.TempDir()).NewInspector().Look(ctx, 0, 0)
	if err == nil || err.Error() != "GRIDHOOK_STATE: context canceled" {
		t.Errorf("the error is %v", err)
	}
}

// inspected returns a bus with all queues of retries, and its inspector.
func inspected(t *testing.T) (*bus, *Inspector) {
	t.Helper()
	b := newBus(t, t.TempDir())
	for _, q := range retryQueues() {
		s := &source{c: b.Conn, queue: q}
		_, err := s.setUp(within(t))
		must(t, err)
	}
	return b, b.NewInspector()
}

// Every process inspects each second, so an inspection makes few requests.
func TestInspector_Requests(t *testing.T) {
	t.Parallel()
	b, i := inspected(t)
	look(t, i, 0)
	asked := func() int { return b.wire.count("PUB $JS.API.") }
	before := asked()
	look(t, i, 0)
	streams, queues := 7, 4+len(retryQueues())
	if n := asked() - before; n != streams+queues+1 {
		t.Errorf("inspection made %d requests, want %d and one for the account", n, streams+queues)
	}
}

// TestInspector_SlowNATS checks that an inspection waits for NATS a few times, not for each
// stream and queue, so that a process far from NATS becomes ready.
func TestInspector_SlowNATS(t *testing.T) {
	t.Parallel()
	b, i := inspected(t)
	b.wire.holdUntil("PUB $JS.API.CONSUMER.INFO.", 4+len(retryQueues()))
	look(t, i, 0)
}

// An inspection has the use of the account's storage, if the account has a limit. Of several
// tiers it has the fullest.
func TestInspector_AccountLimit(t *testing.T) {
	t.Parallel()
	tier := func(used uint64, limit int64) jetstream.Tier {
		return jetstream.Tier{Store: used, Limits: jetstream.AccountLimits{MaxStore: limit}}
	}
	tests := []struct {
		name        string
		account     jetstream.AccountInfo
		used, limit uint64
	}{
		{"no limit", jetstream.AccountInfo{Tier: tier(7, -1)}, 0, 0},
		{"limit", jetstream.AccountInfo{Tier: tier(7, 10)}, 7, 10},
		{"tiers", jetstream.AccountInfo{Tiers: map[string]jetstream.Tier{"R1": tier(9, 100), "R3": tier(50, 60), "R5": tier(0, -1)}}, 50, 60},
		{"empty tier", jetstream.AccountInfo{Tiers: map[string]jetstream.Tier{"R1": tier(0, 100)}}, 0, 100},
	}
	for _, test := range tests {
		if used, limit := fullest(&test.account); used != test.used || limit != test.limit {
			t.Errorf("%s: %d of %d are used, want %d of %d", test.name, used, limit, test.used, test.limit)
		}
	}
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), MaxPayload: 8 << 20})
	must(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	must(t, s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": {
		MaxMemory: -1, MaxStore: 1 << 30, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1,
	}}))
	c, err := Connect(within(t), "", streamOptions, discard, nats.InProcessServer(s))
	must(t, err)
	defer c.Close()
	must(t, c.PutSlice(within(t), newSlice(newTrigger("acme"), 0)))
	if f := look(t, c.NewInspector(), 0); f.Depth.MaxStored != 1<<30 || f.Depth.Stored == 0 {
		t.Errorf("%d of %d bytes are used", f.Depth.Stored, f.Depth.MaxStored)
	}
}

// After a power cut a queue may have fewer messages than its consumer has handled. The
// consumer then skips new messages.
func TestInspector_ConsumerAhead(t *testing.T) {
	dir := t.TempDir()
	b := newBus(t, dir)
	handleSlices(t, b, 15)
	b.stop()
	work := filepath.Join(dir, "jetstream", "$G", "streams", workStream)
	must(t, os.RemoveAll(filepath.Join(work, "msgs")))
	must(t, os.Truncate(filepath.Join(work, "obs", sliceQueue.name, "meta.inf"), 0))

	b = newBus(t, dir)
	s := &source{c: b.Conn, queue: sliceQueue}
	if _, err := s.setUp(within(t)); err != nil {
		t.Fatal(err)
	}
	consumer, err := b.js.Consumer(within(t), workStream, sliceQueue.name)
	must(t, err)
	if info := consumer.CachedInfo(); info.Delivered.Stream < 15 {
		t.Skipf("nats-server lost the consumer's position: %+v", info.Delivered)
	}
	must(t, b.PutSlice(within(t), newSlice(newTrigger("acme"), 0)))
	i := b.NewInspector()
	for range outOfStepChecks - 1 {
		if f := look(t, i, 0); f.Recreated != nil {
			t.Fatalf("found %+v before outOfStepChecks", f)
		}
	}
	if f := look(t, i, 0); len(f.Recreated) != 1 || f.Recreated[0] != sliceQueue.name {
		t.Fatalf("found %+v", f)
	}
	handleSlices(t, b, 0)
}

// After a kill a queue may hold messages again that its consumer has acknowledged, or has
// forgotten to be in progress. The consumer then skips them.
func TestInspector_MessagesBelowAckFloor(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{sliceQueue, surplusQueue} {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			const slices = 3
			dir := t.TempDir()
			b := newBus(t, dir)
			for _, queue := range []queue{sliceQueue, surplusQueue} {
				_, err := (&source{c: b.Conn, queue: queue}).setUp(within(t))
				must(t, err)
			}
			trigger := newTrigger("acme")
			trigger.Surplus = q == surplusQueue
			for number := range slices {
				must(t, b.PutSlice(within(t), newSlice(trigger, number)))
			}
			b.stop()
			messages, kept := filepath.Join(dir, "jetstream", "$G", "streams", workStream, "msgs"), t.TempDir()
			must(t, os.CopyFS(kept, os.DirFS(messages)))
			b = newBus(t, dir)
			acknowledgeSlices(t, b, q, slices)
			b.stop()
			must(t, os.RemoveAll(messages))
			must(t, os.CopyFS(messages, os.DirFS(kept)))

			b = newBus(t, dir)
			i := b.NewInspector()
			for range outOfStepChecks - 1 {
				look(t, i, 0)
			}
			if f := look(t, i, 0); len(f.Recreated) != 1 || f.Recreated[0] != q.name {
				t.Fatalf("found %+v, want that %s skips messages", f, q.name)
			}
			acknowledgeSlices(t, b, q, slices)
			for range outOfStepChecks {
				if f := look(t, i, 0); f.Recreated != nil {
					t.Errorf("found %+v although no message is skipped", f)
				}
			}
		})
	}
}

// acknowledgeSlices takes a number of slices of a queue.
func acknowledgeSlices(t *testing.T, b *bus, q queue, n int) {
	t.Helper()
	consumer, err := (&source{c: b.Conn, queue: q}).setUp(within(t))
	must(t, err)
	for range n {
		m, err := consumer.Next(jetstream.FetchMaxWait(patience))
		must(t, err)
		must(t, m.DoubleAck(within(t)))
	}
}

// handleSlices puts a number of slices and consumes them. Without a number it consumes
// one slice.
func handleSlices(t *testing.T, b *bus, n int) {
	t.Helper()
	trigger := newTrigger("acme")
	for number := range n {
		must(t, b.PutSlice(within(t), newSlice(trigger, number)))
	}
	acknowledgeSlices(t, b, sliceQueue, max(n, 1))
}

func TestInspector_StateLost(t *testing.T) {
	dir := t.TempDir()
	b := newBus(t, dir)
	const receipts = 12 // of a megabyte each, in several files of the server
	for n := range receipts {
		if _, err := b.js.Publish(within(t), receiptPrefix+"acme.trg_1.s"+strconv.Itoa(n), make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	i := b.NewInspector()
	if f := look(t, i, 1); len(f.Damage) != 1 {
		t.Errorf("STATE is empty and revision 1 was read; found %+v", f)
	}
	b.stop()
	flip(t, filepath.Join(dir, "jetstream", "$G", "streams", receiptsStream, "msgs"))
	b = newBus(t, dir)
	if f := look(t, b.NewInspector(), 0); len(f.Damage) != 1 {
		t.Errorf("a bit of a receipt was flipped; found %+v", f)
	}
}

// flip flips a bit in the middle of a stream's blocks, and removes the index like a
// killed server.
func flip(t *testing.T, dir string) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(dir, "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("%v, %v", blocks, err)
	}
	data, err := os.ReadFile(blocks[0])
	must(t, err)
	data[len(data)/2] ^= 4
	must(t, os.WriteFile(blocks[0], data, 0o600))
	if err := os.Remove(filepath.Join(dir, "index.db")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}
