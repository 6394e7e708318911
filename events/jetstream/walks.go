package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// PutPosition publishes the position of a walk. It waits for no acknowledgement. A worker
// that misses the position may send superseded signals. Errors: storage.ErrUnavailable.
func (c *Conn) PutPosition(p events.WalkPosition) error {
	return c.send(walkPrefix+p.OrganizationID+"."+p.TriggerID, p)
}

// send publishes the JSON of a value and waits for no acknowledgement. Errors:
// storage.ErrUnavailable.
func (c *Conn) send(subject string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := c.nc.Publish(c.prefix.Name(subject), data); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return nil
}

// FollowWalks passes the triggers accepted since a time and the positions of their walks
// to a follower, and then each new one until ctx ends. It calls current once the follower
// has everything that existed at the start.
func (c *Conn) FollowWalks(ctx context.Context, since time.Time, f events.WalkFollower, current func()) error {
	group, ctx := errgroup.WithContext(ctx)
	var behind atomic.Int64
	behind.Store(2) // streams
	caughtUp := func() {
		if behind.Add(-1) == 0 {
			current()
		}
	}
	group.Go(func() error {
		return followFrom(ctx, c, triggersStream, since, caughtUp, func(sequence uint64, t events.Trigger) {
			t.Sequence = sequence
			f.Accepted(t)
		})
	})
	group.Go(func() error {
		return followFrom(ctx, c, walksStream, since, caughtUp, func(_ uint64, p events.WalkPosition) { f.Reached(p) })
	})
	return group.Wait()
}

// followFrom follows a stream from a time on. It calls current after the last message
// that existed at the start. It skips a message that does not decode, because one message
// must not stop every worker. Without that message, a worker may send
// superseded signals. If the stream is made again, followFrom begins anew.
func followFrom[T any](ctx context.Context, c *Conn, stream string, since time.Time, current func(), take func(sequence uint64, v T)) error {
	current = sync.OnceFunc(current)
	decode := func(m jetstream.Msg) (*T, error) {
		v, err := fromJSON[T](m)
		if err != nil {
			c.log.Error("message does not decode, skipped", "stream", stream, "subject", m.Subject(), "error", err)
			return nil, nil //nolint:nilnil // there is no value
		}
		return &v, nil
	}
	from, created := start{at: since}, time.Time{}
	for {
		info, err := c.streamInfo(ctx, stream)
		if err != nil {
			err = interruption(err)
		} else {
			if !info.Created.Equal(created) {
				from, created = start{at: since}, info.Created
			}
			if info.State.Msgs == 0 || info.State.LastTime.Before(since) {
				current()
			}
			err = follow(ctx, c, stream, &from, 0, decode, func(batch []events.Sequenced[*T]) error {
				for _, m := range batch {
					if m.Value != nil {
						take(m.Sequence, *m.Value)
					}
				}
				if batch[len(batch)-1].Sequence >= info.State.LastSeq {
					current()
				}
				return nil
			})
		}
		if again, err := c.interrupted(ctx, stream, err); !again {
			return err
		}
	}
}

// PutDeadLetter stores a message that cannot be processed. Errors:
// storage.ErrUnavailable.
func (c *Conn) PutDeadLetter(ctx context.Context, d events.DeadLetter) error {
	if len(d.Body) > maxDeadBody {
		d.Body = nil
	}
	_, err := c.publishTraced(ctx, "", deadPrefix+d.Kind, "dead."+d.ID, d)
	return err
}

// maxDeadBody limits the stored body of a dead letter, in bytes. A larger body is left
// out.
const maxDeadBody = 48 << 10
