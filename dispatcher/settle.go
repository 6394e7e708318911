package dispatcher

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// settleWait bounds one try to store retries and receipts, which goes on when the
// worker is being stopped.
const settleWait = 30 * time.Second

func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleWait)
}

// The pauses between the tries to store what came of a slice.
const (
	firstHold = 250 * time.Millisecond
	lastHold  = 5 * time.Second
)

// hold stores what came of requests that were made, again and again for as long as
// the message system cannot store it, and until ctx ends: a slice that is handed back
// without its receipt is delivered again. What cannot be stored at all is an error.
func (w *Worker) hold(ctx context.Context, store func(ctx context.Context) error) error {
	try := func() error {
		ctx, cancel := settling(ctx)
		defer cancel()
		err := store(ctx)
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			return backoff.Permanent(err)
		}
		return err
	}
	pauses := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstHold), backoff.WithMaxInterval(lastHold), backoff.WithMaxElapsedTime(0),
	)
	return backoff.RetryNotify(try, backoff.WithContext(pauses, ctx), func(err error, pause time.Duration) {
		w.Log.Warn("what came of requests cannot be stored now; holding it", "again_in", pause, "error", err)
	})
}

// settle stores the retries and then the receipt, both durable, after which the
// slice or retry may be acknowledged.
func (w *Worker) settle(ctx context.Context, retries []events.Retry, receipt events.Receipt) error {
	if err := w.hold(ctx, func(ctx context.Context) error { return w.putRetries(ctx, retries) }); err != nil {
		return err
	}
	return w.hold(ctx, func(ctx context.Context) error { return w.Bus.PutReceipt(ctx, receipt) })
}
