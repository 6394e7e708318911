package jetstream

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxInOrder limits the unacknowledged messages of a queue in order. They wait in memory.
const maxInOrder = 1024

// orderedWait is longer than a message may wait in a queue in order. A redelivery in between
// would come after later messages.
const orderedWait = 365 * 24 * time.Hour

// lines run work by organization: one at a time and in the order of start for each.
type lines struct {
	taking   context.Context
	handlers *sync.WaitGroup

	mu      sync.Mutex
	waiting map[string][]func() // by organization, while its work runs
}

// newLines returns lines that begin no work after taking has ended. Their goroutines belong to
// handlers.
func newLines(taking context.Context, handlers *sync.WaitGroup) *lines {
	return &lines{taking: taking, handlers: handlers, waiting: map[string][]func(){}}
}

// start adds the work of a message. The organization is the last but one token of its subject.
// A trigger without a change does not wait for the changes before it.
func (l *lines) start(m jetstream.Msg, do func()) {
	if t, err := decodeTrigger(m); err != nil || t.Change == nil {
		l.handlers.Go(do)
		return
	}
	tokens := strings.Split(m.Subject(), ".")
	org := tokens[len(tokens)-2]
	l.mu.Lock()
	defer l.mu.Unlock()
	list, running := l.waiting[org]
	l.waiting[org] = append(list, do)
	if !running {
		l.handlers.Go(func() { l.run(org) })
	}
}

// waits returns how many messages of an organization wait.
func (l *lines) waits(org string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting[org])
}

// run does an organization's work until nothing waits.
func (l *lines) run(org string) {
	for do := l.next(org); do != nil; do = l.next(org) {
		do()
	}
}

// next removes and returns the oldest work of an organization, nil if there is none or if
// taking has ended.
func (l *lines) next(org string) (do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.waiting[org]
	if len(list) == 0 || l.taking.Err() != nil {
		delete(l.waiting, org)
		return nil
	}
	l.waiting[org] = list[1:]
	return list[0]
}
