package embedded

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// packet returns a packet with size bytes after its head.
func packet(head byte, size int) []byte {
	return append(binary.AppendUvarint([]byte{head}, uint64(size)), make([]byte, size)...) //nolint:gosec // not negative
}

const (
	connectHead     = 0x10
	pubackHead      = 0x40
	subscribeHead   = 0x82
	unsubscribeHead = 0xA2
)

// sender is a client of the front without nats-server, which has sent its CONNECT packet.
type sender struct {
	net.Conn
	ended chan struct{} // closed when the front has ended the connection
}

// send sends packets. It returns after the front has forwarded all but the last.
func (s sender) send(packets ...[]byte) {
	for _, p := range packets {
		_, _ = s.Write(p) // fails once the front has ended the connection
	}
}

// newSender connects a client from a port. forwarded, which may be nil, gets the bytes.
func newSender(t *testing.T, f *front, port int, forwarded io.Writer) sender {
	t.Helper()
	if forwarded == nil {
		forwarded = io.Discard
	}
	client, front := net.Pipe()
	server, nats := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	l := newLink(front, server, time.Second)
	l.close = func() { cancel(); _, _ = front.Close(), server.Close() }
	f.links.Store(port, l)
	s := sender{client, make(chan struct{})}
	go func() { _, _ = io.Copy(forwarded, nats) }()
	go func() { l.sendPackets(ctx); l.close(); close(s.ended) }()
	t.Cleanup(func() { l.close(); <-s.ended })
	s.send(packet(connectHead, 100))
	return s
}

// admitted is newSender with a client that has logged in.
func admitted(t *testing.T, f *front, port int, org string) sender {
	t.Helper()
	s := newSender(t, f, port, nil)
	f.admit(&net.TCPAddr{Port: port}, org)
	return s
}

// The clients of an organization share the rate of subscriptions. Another organization has
// its own.
func TestLink_ChangeRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(front)
		a, b, other := admitted(t, f, 1, "acme"), admitted(t, f, 2, "acme"), admitted(t, f, 3, "other")
		start := time.Now()
		a.send(packet(subscribeHead, changeRate))
		for range 3 {
			a.send(packet(subscribeHead, changeRate/2))
			b.send(packet(unsubscribeHead, changeRate/2))
		}
		a.send(packet(pubackHead, maxAck))
		b.send(packet(pubackHead, maxAck))
		if took := time.Since(start); took < 2900*time.Millisecond || took > 3100*time.Millisecond {
			t.Errorf("16 KiB took %v, want 3s after the burst", took)
		}
		start = time.Now()
		other.send(packet(subscribeHead, changeRate), packet(pubackHead, maxAck))
		if took := time.Since(start); took != 0 {
			t.Errorf("the other organization waited %v", took)
		}
		start = time.Now()
		a.send(packet(subscribeHead, maxPacket), packet(pubackHead, maxAck))
		if took := time.Since(start); took < 15*time.Second || took > 17*time.Second {
			t.Errorf("the largest packet took %v, want 16s", took)
		}
	})
}

// A client's acknowledgements do not wait for its organization's subscriptions, but have a rate.
func TestLink_AckRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(front)
		a, b := admitted(t, f, 1, "acme"), admitted(t, f, 2, "acme")
		a.send(packet(subscribeHead, changeRate))
		start := time.Now()
		for range ackRate {
			b.send(packet(pubackHead, maxAck))
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("%d acknowledgements waited %v", ackRate, took)
		}
		for range ackRate {
			b.send(packet(pubackHead, maxAck))
		}
		if took := time.Since(start); took < 990*time.Millisecond {
			t.Errorf("%d acknowledgements took %v", 2*ackRate, took)
		}
	})
}

// A subscription waits for the login: before it, the organization is not known.
func TestLink_ChangeBeforeLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, forwarded := new(front), new(counter)
		s := newSender(t, f, 1, forwarded)
		synctest.Wait()
		before := *forwarded
		go s.send(packet(subscribeHead, 100))
		synctest.Wait()
		if *forwarded != before {
			t.Error("the subscription is sent before the login")
		}
		f.admit(&net.TCPAddr{Port: 1}, "acme")
		synctest.Wait()
		if *forwarded == before {
			t.Error("the subscription is not sent after the login")
		}
	})
}

// A client that would wait for too long is disconnected, so that it does not stay when it is gone.
func TestLink_MaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(front)
		start := time.Now()
		for port := range 10 {
			s := admitted(t, f, port, "acme")
			go s.send(packet(subscribeHead, maxPacket))
			defer func() {
				_ = s.Close()
				<-s.ended
				if took := time.Since(start); took > time.Minute {
					t.Errorf("a client that is gone stayed for %v", took)
				}
			}()
		}
	})
}

// The first packet has the credentials of a client that is not known yet.
func TestLink_LargeFirstPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, front := net.Pipe()
		l := newLink(front, nil, time.Second)
		go func() { _, _ = client.Write(packet(connectHead, 5000)) }()
		l.sendPackets(t.Context()) // would use the missing server
		_ = client.Close()
	})
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
