package jetstream

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// damageConsumer overwrites the stored position of a queue's consumer, as a power cut leaves
// a file whose data was not written yet.
func damageConsumer(t *testing.T, dir string, q queue) {
	t.Helper()
	position := filepath.Join(dir, "jetstream", "$G", "streams", q.stream, "obs", q.name, "o.dat")
	data, err := os.ReadFile(position) //nolint:gosec // a file of the test
	must(t, err)
	must(t, os.WriteFile(position, bytes.Repeat([]byte{0}, len(data)), 0o600))
}

func TestSource_DamagedConsumer(t *testing.T) {
	t.Parallel()
	for _, q := range []queue{sliceQueue, surplusQueue} {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := newBus(t, dir)
			for _, each := range []queue{sliceQueue, surplusQueue} {
				_, err := (&source{c: b.Conn, queue: each}).setUp(within(t))
				must(t, err)
			}
			trigger := newTrigger("acme")
			trigger.Surplus = q == surplusQueue
			must(t, b.PutSlice(within(t), newSlice(trigger, 0)))
			acknowledgeSlices(t, b, q, 1)
			b.stop()
			damageConsumer(t, dir, q)

			b = newBus(t, dir)
			must(t, b.PutSlice(within(t), newSlice(trigger, 1))) // it is lost with its stream
			_, err := (&source{c: b.Conn, queue: q}).setUp(within(t))
			must(t, err)
			must(t, b.PutSlice(within(t), newSlice(trigger, 2)))
			acknowledgeSlices(t, b, q, 1)
			if f := look(t, b.NewInspector(), 0); f.Depth.Slices != 0 {
				t.Errorf("%d slices are left", f.Depth.Slices)
			}
		})
	}
}

// A server that can create no consumer at all, as on a full disk, is no reason to drop slices.
func TestSource_NoConsumers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(t, dir)
	must(t, b.PutSlice(within(t), newSlice(newTrigger("acme"), 0)))
	folder := filepath.Join(dir, "jetstream", "$G", "streams", workStream, "obs")
	must(t, os.RemoveAll(folder))
	must(t, os.WriteFile(folder, nil, 0o600)) // no folder can be made in it
	if _, err := (&source{c: b.Conn, queue: sliceQueue}).setUp(within(t)); err == nil {
		t.Error("a consumer was set up")
	}
	must(t, os.Remove(folder))
	_, err := (&source{c: b.Conn, queue: sliceQueue}).setUp(within(t))
	must(t, err)
	acknowledgeSlices(t, b, sliceQueue, 1)
}

// A process may end, or the disk be full, between the deletion of the stream and its creation.
func TestSource_MissingStream(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	must(t, b.js.DeleteStream(within(t), workStream))
	_, err := (&source{c: b.Conn, queue: sliceQueue}).setUp(within(t))
	must(t, err)
	must(t, b.PutSlice(within(t), newSlice(newTrigger("acme"), 0)))
	acknowledgeSlices(t, b, sliceQueue, 1)
}

// The triggers are a record: their stream stays when a consumer of theirs is damaged.
func TestSource_DamagedConsumerOfRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(t, dir)
	consumer, err := (&source{c: b.Conn, queue: startQueue}).setUp(within(t))
	must(t, err)
	_, err = b.Accept(within(t), newTrigger("acme"))
	must(t, err)
	m, err := consumer.Next()
	must(t, err)
	must(t, m.DoubleAck(within(t)))
	b.stop()
	damageConsumer(t, dir, startQueue)

	b = newBus(t, dir)
	if _, err := (&source{c: b.Conn, queue: startQueue}).setUp(within(t)); err == nil {
		t.Error("a damaged consumer was set up")
	}
	if newest, err := b.Newest(within(t), "acme"); err != nil || newest.ID == "" {
		t.Errorf("the trigger is gone: %+v, %v", newest, err)
	}
}
