package jetstream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
)

// maxInOrder limits the unacknowledged messages of a queue in order.
const maxInOrder = 1024

// orderedWait is longer than a message may wait in a queue in order. A redelivery in between
// would come after later messages.
const orderedWait = 365 * 24 * time.Hour

// lines handle the changes of each organization one at a time, in the order of the log. The
// changes that wait are in the log only. An organization has up to two unacknowledged messages
// in the queue, so one with many changes takes no places of the others.
type lines struct {
	c           *Conn
	ctx, taking context.Context
	handle      events.Handler[events.Trigger]
	running     sync.WaitGroup

	mu    sync.Mutex
	byOrg map[string]*line
}

// line is the work on the changes of an organization.
type line struct {
	// held is unacknowledged until all changes before next are handled. next is nil if none
	// arrived since. So the next process begins at held at the latest.
	held, next *place
	first      uint64 // sequence of the first change
	last       uint64 // sequence of the last change
	back       bool   // first came after later changes, which are handled again after it
}

// place is an unacknowledged message with a slot of the queue.
type place struct {
	sequence          uint64
	acknowledge, free func() // acknowledge also frees the slot
}

// start takes a message of the queue. do handles one without a change, which waits for nothing.
func (l *lines) start(m jetstream.Msg, do, free func()) {
	t, err := decodeTrigger(m)
	if err != nil || t.Change == nil {
		l.running.Go(do)
		return
	}
	if l.taking.Err() != nil {
		free() // the next process gets it again
		return
	}
	p := &place{t.Sequence, func() {
		defer free()
		if err := acknowledge(l.taking, m); err != nil {
			l.log(&t).Warn("acknowledgement not sent, the message may be redelivered", "error", err)
		}
	}, free}
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.byOrg[t.OrganizationID]; x != nil {
		x.add(p)
		return
	}
	l.byOrg[t.OrganizationID] = &line{held: p, first: p.sequence, last: p.sequence}
	l.running.Go(func() { l.run(t.OrganizationID, p.sequence) })
}

// add adds a message to a line. A consumer that begins again sends earlier messages again.
func (x *line) add(p *place) {
	x.last = max(x.last, p.sequence)
	switch {
	case p.sequence == x.held.sequence:
		x.held.free()
		x.held = p
		return
	case x.next != nil && p.sequence == x.next.sequence:
		x.next.free()
		x.next = p
		return
	case p.sequence < x.first: // the server sent it before, over a connection that broke
		x.first, x.back = p.sequence, true
		p, x.held = x.held, p
	}
	if x.next == nil && p.sequence > x.held.sequence {
		x.next = p
		return
	}
	p.acknowledge() // held comes before it, or it is handled
}

func (l *lines) log(t *events.Trigger) *slog.Logger {
	return l.c.log.With("queue", changeQueue.name, "org", t.OrganizationID, "trigger", t.ID)
}

// run handles an organization's changes from a sequence on, until none waits or taking ends.
func (l *lines) run(org string, from uint64) {
	for ended := false; !ended; {
		last := l.next(org, &from)
		err := l.pass(org, &from, last)
		if l.taking.Err() != nil {
			return
		}
		if err != nil {
			l.c.log.Warn("change not handled, retrying", "org", org, "error", err)
			periodic.Sleep(l.taking, nakDelay)
			continue
		}
		ended = l.end(org, last)
	}
}

// pass handles an organization's changes in the log from a sequence on, which it moves, up to the
// last that the queue has handed out.
func (l *lines) pass(org string, from *uint64, last uint64) error {
	for m, err := range l.c.messages(l.ctx, triggersStream, triggerPrefix+org+".>", *from) {
		if err == nil && m.Sequence > last {
			return nil
		}
		if err == nil {
			l.reached(org, m.Sequence)
			err = l.one(m)
		}
		if err != nil || l.taking.Err() != nil {
			return err
		}
		*from = m.Sequence + 1
	}
	return nil
}

// one handles a message of the log. The queue itself handles one that does not decode, and one
// without a change.
func (l *lines) one(m *jetstream.RawStreamMsg) error {
	var t events.Trigger
	if err := jsonv1.Unmarshal(m.Data, &t); err != nil || t.Check() != nil || t.Change == nil {
		return nil //nolint:nilerr // see above
	}
	t.Sequence = m.Sequence
	if err := l.c.gate.wait(l.ctx, l.taking); err != nil {
		return err
	}
	return events.Recovered(func() error { return l.handle(l.ctx, t, events.Taken{Redelivered: true, Size: len(m.Data)}) })
}

// reached acknowledges the held message if all changes before the next place are handled. The
// change at a sequence is handled now.
func (l *lines) reached(org string, sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.byOrg[org]; x.next != nil && sequence >= x.next.sequence && !x.back {
		x.held.acknowledge()
		x.held, x.next = x.next, nil
	}
}

// next returns the sequence of an organization's last change, and moves from back to the first
// one if that came late.
func (l *lines) next(org string, from *uint64) (last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.byOrg[org]
	if x.back {
		*from, x.back = x.first, false
	}
	return x.last
}

// end reports whether no change came after the one at a sequence. It then acknowledges the held
// message.
func (l *lines) end(org string, last uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.byOrg[org]
	if x.last > last || x.back {
		return false
	}
	x.held.acknowledge()
	if x.next != nil { // the log no longer has it
		x.next.acknowledge()
	}
	delete(l.byOrg, org)
	return true
}
