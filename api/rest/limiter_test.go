package rest

import (
	"strconv"
	"testing"
	"time"
)

func TestLimiter_Bounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := newLimiter(1, 2)
	for i := range maxBuckets + 100 {
		l.take(strconv.Itoa(i), now)
	}
	if len(l.buckets) != maxBuckets {
		t.Fatalf("%d buckets", len(l.buckets))
	}
	if l.take("late", now) == 0 {
		t.Error("late clients share one bucket, and it was not empty")
	}
	if l.take("0", now) != 0 || l.take("0", now) == 0 {
		t.Error("an early client lost its own bucket")
	}
	now = now.Add(time.Second) // all buckets but 0's are full again
	if l.take("late", now) != 0 {
		t.Error("no bucket was removed")
	}
	if len(l.buckets) != 2 {
		t.Errorf("%d buckets remain, want those of 0 and late", len(l.buckets))
	}
}

func TestLimiter_RetryAfter(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := newLimiter(0.1, 1)
	if l.take("a", now) != 0 {
		t.Fatal("the first was refused")
	}
	if wait := l.take("a", now); wait != 10 {
		t.Errorf("wait is %d s, want 10", wait)
	}
	if wait := l.take("a", now.Add(3500*time.Millisecond)); wait != 7 {
		t.Errorf("wait is %d s, want 7", wait)
	}
	if wait := l.take("a", now.Add(10*time.Second)); wait != 0 {
		t.Errorf("after the wait it is %d s", wait)
	}
}

func TestLimiter_Charge(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := newLimiter(1, 4)
	l.charge("a", 3, now)
	if l.take("a", now) != 0 || l.take("a", now) != 1 {
		t.Error("a caller who was charged 3 of 4 tokens has not one more")
	}
	l.charge("b", 4, now)
	l.charge("b", 100, now) // a caller cannot be refused afterwards, so it waits
	if wait := l.take("b", now); wait != 5 {
		t.Errorf("a caller with a debt of a burst waits %d s, want 5", wait)
	}
}
