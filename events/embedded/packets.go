package embedded

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"golang.org/x/time/rate"
)

// Maximum sizes of a client's MQTT packets in bytes. nats-server would accept
// Options.MaxPayload. The first packet has the credentials. Only subscriptions and publications
// have more than maxAck.
const (
	maxPacket = 64 << 10
	maxFirst  = 4 << 10
	maxAck    = 2
)

// changeRate is how many bytes of packets beyond maxAck an organization's clients may send per
// second. Each subscription with QoS 1 takes nats-server writes to the disk. Meanwhile
// Gridhook's own requests to JetStream wait.
const changeRate = 4 << 10

// ackRate is how many other packets a client may send per second.
const ackRate = 1000

// maxWait is the longest time that a packet waits. Meanwhile the front does not notice that the
// client has left.
const maxWait = time.Minute

// link is a client's connection and the front's connection to nats-server.
type link struct {
	client, server net.Conn
	timeout        time.Duration // see MQTT.Timeout
	close          func()
	// changes gets the limiter of changeRate of the client's organization at the login.
	changes chan *rate.Limiter
}

func newLink(client, server net.Conn, timeout time.Duration) *link {
	return &link{client: client, server: server, timeout: timeout, changes: make(chan *rate.Limiter, 1)}
}

// sendPackets sends the client's packets to the server. It returns at a packet that is too large,
// does not end in time, would wait for longer than maxWait, or is a PUBLISH with QoS 2: the server
// refuses any PUBLISH of a client, but stores one with QoS 2 before it does.
func (l *link) sendPackets(ctx context.Context) {
	r, acks := bufio.NewReaderSize(l.client, frontBuffer), rate.NewLimiter(ackRate, ackRate)
	var changes *rate.Limiter
	for most := uint64(maxFirst); ; most = maxPacket {
		_ = l.client.SetReadDeadline(time.Time{})
		head, err := r.ReadByte()
		if err != nil {
			return
		}
		_ = l.client.SetReadDeadline(time.Now().Add(l.timeout))
		size, err := binary.ReadUvarint(r) // the encoding of MQTT's Remaining Length
		if err != nil || size > most || head&0b1111_0110 == 0b0011_0100 {
			return
		}
		switch {
		case most == maxFirst: // CONNECT
		case size <= maxAck:
			err = wait(ctx, acks, 1)
		default:
			if changes == nil {
				select {
				case changes = <-l.changes:
				case <-ctx.Done():
					return
				}
			}
			err = wait(ctx, changes, int(size)) //nolint:gosec // at most maxPacket
		}
		if err != nil {
			return
		}
		_ = l.client.SetReadDeadline(time.Now().Add(l.timeout))
		if _, err := l.server.Write(binary.AppendUvarint([]byte{head}, size)); err != nil {
			return
		}
		if _, err := io.CopyN(l.server, r, int64(size)); err != nil { //nolint:gosec // at most maxPacket
			return
		}
	}
}

// wait waits until a limiter allows n events, which may be more than its burst. It returns an
// error if that takes longer than maxWait.
func wait(ctx context.Context, limiter *rate.Limiter, n int) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for ; n > 0; n -= limiter.Burst() {
		if err := limiter.WaitN(ctx, min(n, limiter.Burst())); err != nil {
			return err
		}
	}
	return nil
}
