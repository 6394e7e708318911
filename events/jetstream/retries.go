package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Due retries wait in lanes by organization, and parked walks in a separate lane. Each
// lane has its own consumer. So the due retries of one organization do not delay other
// lanes, even if there are hundreds of thousands after an outage.
const (
	retryLanes = 16
	walksLane  = "walks"
)

func retryLane(r *events.Retry) string {
	if r.Walk != nil {
		return walksLane
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Trigger.OrganizationID))
	return strconv.FormatUint(uint64(h.Sum32()%retryLanes), 10)
}

// retryQueues returns the queues of the lanes.
func retryQueues() []queue {
	queues := []queue{{stream: retriesStream, name: "retriers_" + walksLane, filter: retryDuePrefix + walksLane + ".>"}}
	for i := range retryLanes {
		lane := strconv.Itoa(i)
		queues = append(queues, queue{stream: retriesStream, name: "retriers_" + lane, filter: retryDuePrefix + lane + ".>"})
	}
	return queues
}

// retryHeaders is more than the bytes of a retry's headers.
const retryHeaders = 1024

// PutRetries schedules each retry for its own time and returns when all are durable, with
// their size in bytes. It replaces a waiting retry with the same key.
func (c *Conn) PutRetries(ctx context.Context, retries []events.Retry) (size int, err error) {
	// gofail: var retryBefore struct{}
	bodies := make([][]byte, len(retries))
	for i := range retries {
		if bodies[i], err = json.Marshal(&retries[i]); err != nil {
			return 0, err
		}
		if limit := c.nc.MaxPayload(); limit > 0 && int64(len(bodies[i])+retryHeaders) > limit { // before any of them is stored
			return 0, tooLarge(nats.ErrMaxPayload)
		}
		size += len(bodies[i]) + retryHeaders
	}
	futures := make([]jetstream.PubAckFuture, 0, len(retries))
	for i := range retries {
		r := &retries[i]
		tail := retryTail(r)
		future, err := c.js.PublishMsgAsync(message(r.Trigger.Traceparent, c.prefix.Name(retryWaitPrefix+tail), bodies[i]),
			jetstream.WithScheduleAt(wholeSecond(r.DueAt.Time)), jetstream.WithScheduleTarget(c.prefix.Name(retryDuePrefix+retryLane(r)+"."+tail)))
		if err != nil {
			return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		futures = append(futures, future)
	}
	for _, future := range futures {
		if err := stored(ctx, future); err != nil {
			return 0, fmt.Errorf("%w: a retry was not stored: %w", storage.ErrUnavailable, err)
		}
	}
	// gofail: var retryAfter struct{}
	return size, nil
}

// stored waits until an asynchronous publish is durable.
func stored(ctx context.Context, future jetstream.PubAckFuture) error {
	select {
	case <-future.Ok():
		return nil
	case err := <-future.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wholeSecond rounds up to a second. The server's schedules round down, and a delay must
// not be shorter than the retry policy says.
func wholeSecond(t time.Time) time.Time { return t.Add(time.Second - 1).Truncate(time.Second) }

// ConsumeRetries calls handle for due retries. A lane may use up to half of the slots.
// Lanes take turns when all slots are busy.
func (c *Conn) ConsumeRetries(ctx, taking context.Context, slots int, handle events.Handler[events.Retry]) error {
	room := semaphore.NewWeighted(int64(slots))
	inTurn := func(ctx context.Context, r events.Retry, taken events.Taken) error {
		if err := room.Acquire(ctx, 1); err != nil {
			return err
		}
		leave, free := sync.OnceFunc(func() { room.Release(1) }), taken.Free
		defer leave()
		taken.Free = func() { leave(); free() }
		// gofail: var againBefore struct{}
		err := handle(ctx, r, taken)
		// gofail: var againAfter struct{}
		return err
	}
	group, taking := errgroup.WithContext(taking)
	for _, q := range retryQueues() {
		group.Go(func() error { return consume(ctx, taking, c, q, (slots+1)/2, work[events.Retry], inTurn) })
	}
	return group.Wait()
}
