package api

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds how many callers a limiter knows apart.
const maxBuckets = 10_000

// sweepEvery bounds how often a full limiter looks for buckets to forget.
const sweepEvery = time.Second

// limiter is a token bucket for each caller. A bucket that is full again is
// forgotten when room is needed, which changes nothing. Where none is, those who
// come new share one: however many they are, they get no more than one caller.
type limiter struct {
	limit rate.Limit
	burst int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
	shared  *rate.Limiter
	swept   time.Time
}

func newLimiter(perSecond float64, burst int) *limiter {
	l := &limiter{limit: rate.Limit(perSecond), burst: burst, buckets: map[string]*rate.Limiter{}}
	l.shared = rate.NewLimiter(l.limit, l.burst)
	return l
}

// take takes a token of a caller's and returns 0, or takes none and returns in
// how many seconds there will be one.
func (l *limiter) take(caller string, now time.Time) (wait int) {
	r := l.bucket(caller, now).ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay == 0 {
		return 0
	}
	r.CancelAt(now)
	return int(math.Ceil(delay.Seconds()))
}

func (l *limiter) bucket(caller string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets[caller]; ok {
		return b
	}
	if len(l.buckets) >= maxBuckets && !l.makeRoom(now) {
		return l.shared
	}
	b := rate.NewLimiter(l.limit, l.burst)
	l.buckets[caller] = b
	return b
}

// makeRoom forgets the buckets that are full.
func (l *limiter) makeRoom(now time.Time) bool {
	if now.Sub(l.swept) < sweepEvery {
		return false
	}
	l.swept = now
	for caller, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, caller)
		}
	}
	return len(l.buckets) < maxBuckets
}
