package jetstream

import (
	"errors"
	"strconv"
	"testing"
	"time"
)

// newScanned returns a bus with messages for two requests of a scan.
func newScanned(t *testing.T) (b *bus, messages int) {
	b, messages = newBus(t, t.TempDir()), scanBatch+5
	for i := range messages {
		if err := b.nc.Publish(walkPrefix+"acme."+strconv.Itoa(i), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	for s, err := b.streamInfo(within(t), walksStream); err != nil || s.State.Msgs < uint64(messages); s, err = b.streamInfo(within(t), walksStream) {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.publishWait = 500 * time.Millisecond
	return b, messages
}

// A server that sends nothing for a time has more messages. The scan waits for them.
func TestScan_SlowServer(t *testing.T) {
	b, messages := newScanned(t)
	s, err := b.handle(within(t), walksStream)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range b.scan(within(t), walksStream, walkPrefix+">", 1, uint64(messages)+1) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n > 1 {
			continue
		}
		for name := range s.ConsumerNames(within(t)).Name() {
			if _, err := s.PauseConsumer(within(t), name, time.Now().Add(3*b.publishWait)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != messages {
		t.Errorf("the scan has %d messages, want %d", n, messages)
	}
}

// Messages that arrive after the scan has stopped to wait for them are lost, which is no end.
func TestScan_LateMessages(t *testing.T) {
	b, messages := newScanned(t)
	n := 0
	var failed error
	for _, err := range b.scan(within(t), walksStream, walkPrefix+">", 1, uint64(messages)+1) {
		if err != nil {
			failed = err
			break
		}
		if n++; n == scanBatch {
			b.wire.holdUp()
			time.AfterFunc(5*b.publishWait, b.wire.release)
		}
	}
	if n < messages && !errors.Is(failed, errGap) {
		t.Errorf("the scan has %d messages of %d and the error %v", n, messages, failed)
	}
}
