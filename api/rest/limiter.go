package rest

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets is the maximum number of callers with a bucket of their own.
const maxBuckets = 10_000

// sweepEvery is the minimum interval between sweeps of a full limiter.
const sweepEvery = time.Second

// limiter has a token bucket per caller. A sweep deletes full buckets, because a new
// bucket is full as well. If the limiter has no space, all new callers share one bucket.
// Together they get no more than one caller.
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

// newDailyLimiter returns a limiter whose burst is the number of tokens of a day.
func newDailyLimiter(perDay int) *limiter {
	return newLimiter(float64(perDay)/(24*time.Hour).Seconds(), perDay)
}

// take takes a token of a caller and returns 0. If the bucket is empty, it takes no token
// and returns the seconds until the next token.
func (l *limiter) take(caller string, now time.Time) (wait int) {
	r := l.bucket(caller, now).ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay == 0 {
		return 0
	}
	r.CancelAt(now)
	return int(math.Ceil(delay.Seconds()))
}

// charge takes n tokens of a caller. If there are fewer, the caller's next requests wait.
func (l *limiter) charge(caller string, n int, now time.Time) {
	l.bucket(caller, now).ReserveN(now, min(n, l.burst))
}

func (l *limiter) bucket(caller string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets[caller]; ok {
		return b
	}
	if len(l.buckets) >= maxBuckets && !l.sweep(now) {
		return l.shared
	}
	b := rate.NewLimiter(l.limit, l.burst)
	l.buckets[caller] = b
	return b
}

// sweep deletes full buckets. It reports whether the limiter has space.
func (l *limiter) sweep(now time.Time) bool {
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
