package policy

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gridhook/gridhook/storage"
)

// MaxRetryAfter is the maximum delay of a Retry-After header.
const MaxRetryAfter = time.Hour

// Next returns the due time of the next attempt after a number of failed attempts. It is
// now plus a random share (jitter, in [0,1)) of MaxDelay. The delay is random, so homes
// that failed together do not retry together. It is never shorter than retryAfter, up to
// MaxRetryAfter. ok is false if the attempt would come after the deadline.
func Next(p storage.RetryPolicy, failed int, now, deadline time.Time, retryAfter time.Duration, jitter float64) (due time.Time, ok bool) {
	delay := time.Duration(jitter * float64(MaxDelay(p, failed)))
	due = now.Add(max(delay, min(retryAfter, MaxRetryAfter)))
	return due, due.Before(deadline)
}

// MaxDelay returns the longest delay after a number of failed attempts, from 1:
// initialSeconds x multiplier^(failed-1), at most maxSeconds.
func MaxDelay(p storage.RetryPolicy, failed int) time.Duration {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(seconds(p.InitialSeconds)),
		backoff.WithMultiplier(p.Multiplier),
		backoff.WithMaxInterval(seconds(p.MaxSeconds)),
		backoff.WithRandomizationFactor(0), // Next applies the jitter
		backoff.WithMaxElapsedTime(0),      // the signal's deadline ends the retries
	)
	delay := b.NextBackOff()
	for range failed - 1 {
		if delay = b.NextBackOff(); delay >= b.MaxInterval {
			break
		}
	}
	return delay
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
