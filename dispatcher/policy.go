package dispatcher

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gridhook/gridhook/storage"
)

// maxRetryAfter bounds how long a partner can put us off.
const maxRetryAfter = time.Hour

// ceiling is the longest pause after a number of failed attempts, from 1:
// initial x multiplier^(failed-1), at most max.
func ceiling(p storage.RetryPolicy, failed int) time.Duration {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(seconds(p.InitialSeconds)),
		backoff.WithMultiplier(p.Multiplier),
		backoff.WithMaxInterval(seconds(p.MaxSeconds)),
		backoff.WithRandomizationFactor(0), // full jitter is applied by next
		backoff.WithMaxElapsedTime(0),      // the signal's deadline decides
	)
	pause := b.NextBackOff()
	for range failed - 1 {
		if pause = b.NextBackOff(); pause >= b.MaxInterval {
			break
		}
	}
	return pause
}

// next says when to try again after a number of failed attempts: a uniformly
// random share (jitter, in [0,1)) of the ceiling, so that what failed together
// does not come back together, but not before the partner's Retry-After. ok is
// false when that would be after the deadline.
func next(p storage.RetryPolicy, failed int, now, deadline time.Time, retryAfter time.Duration, jitter float64) (due time.Time, ok bool) {
	pause := time.Duration(jitter * float64(ceiling(p, failed)))
	due = now.Add(max(pause, min(retryAfter, maxRetryAfter)))
	return due, due.Before(deadline)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
