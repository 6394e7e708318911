package gate

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// seconds5 stays open for five seconds a time.
func seconds5(n int) time.Duration { return time.Duration(n) * 5 * time.Second }

func failTimes(b *breaker, n, weight int, now time.Time) {
	for range n {
		b.failed(false, weight, now, seconds5)
	}
}

func (b *breaker) open() bool {
	_, _, open := b.standing()
	return open
}

func TestBreakerOpensOnFailuresInARow(t *testing.T) {
	cases := []struct {
		name   string
		n      int
		weight int
		open   bool
	}{
		{"few without an answer", 10, weightNoResponse, false},
		{"enough without an answer", 11, weightNoResponse, true},
		{"few refusals", 511, weightRefused, false},
		{"enough refusals", 512, weightRefused, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := &breaker{}
			failTimes(b, c.n, c.weight, noon)
			if b.open() != c.open {
				t.Errorf("open is %v, want %v", b.open(), c.open)
			}
		})
	}
	b := &breaker{}
	failTimes(b, 10, weightNoResponse, noon)
	b.succeeded(noon)
	failTimes(b, 10, weightNoResponse, noon)
	if b.open() {
		t.Error("a success in between counts from the beginning")
	}
}

func TestBreakerSaysSinceWhen(t *testing.T) {
	b := &breaker{}
	stands := func(when string, since, probeAt time.Time, open bool) {
		t.Helper()
		if s, p, ok := b.standing(); !s.Equal(since) || !p.Equal(probeAt) || ok != open {
			t.Errorf("%s it stands at %v, %v, %v", when, s, p, ok)
		}
	}
	fail := func(at time.Time) bool {
		l, _ := b.ask(at)
		return b.failed(l.probe, breakAfter, at, seconds5)
	}
	stands("before anything", time.Time{}, time.Time{}, false)
	if b.succeeded(noon) {
		t.Error("what was closed has closed")
	}
	if !fail(noon) {
		t.Error("it does not say that it has opened")
	}
	stands("opened", noon, noon.Add(5*time.Second), true)
	if fail(noon.Add(5 * time.Second)) {
		t.Error("the failure of a probe opens what was open")
	}
	stands("after the probe", noon, noon.Add(15*time.Second), true)
	b.hold(noon.Add(15*time.Second), noon.Add(time.Minute))
	stands("held", noon, noon.Add(time.Minute), true)
	if !b.succeeded(noon.Add(time.Minute)) {
		t.Error("it does not say that it has closed")
	}
	stands("closed", time.Time{}, time.Time{}, false)
	b.hold(noon.Add(time.Hour), noon.Add(2*time.Hour))
	stands("held from the beginning", noon.Add(time.Hour), noon.Add(2*time.Hour), true)
}

func TestBreakerLetsOneProbeThrough(t *testing.T) {
	b := &breaker{}
	failTimes(b, 11, weightNoResponse, noon)
	if l, probing := b.ask(noon.Add(4 * time.Second)); probing != nil || !l.until.Equal(noon.Add(5*time.Second)) {
		t.Fatalf("before its time it answers %+v", l)
	}
	later := noon.Add(5 * time.Second)
	probe, _ := b.ask(later)
	if !probe.until.IsZero() || !probe.probe {
		t.Fatalf("the first at its time is the probe, not %+v", probe)
	}
	waiting, probing := b.ask(later)
	if waiting.probe || probing == nil {
		t.Fatalf("the second waits for the probe, not %+v", waiting)
	}
	b.failed(false, weightNoResponse, later, seconds5) // one that was under way since before
	select {
	case <-probing:
		t.Fatal("an older failure was taken for the probe's")
	default:
	}
	b.failed(true, weightNoResponse, later, seconds5)
	<-probing
	if until := b.openUntil(later); !until.Equal(later.Add(10 * time.Second)) {
		t.Errorf("after a failed probe it is open until %s, want longer", until)
	}
	later = later.Add(10 * time.Second)
	probe, _ = b.ask(later)
	b.drop(probe.probe)
	if again, _ := b.ask(later); !again.probe {
		t.Error("a probe that was not made leaves its place to the next")
	}
	b.succeeded(later)
	if l, probing := b.ask(later); !l.until.IsZero() || probing != nil || l.probe || b.open() {
		t.Errorf("after a success it is closed, not %+v", l)
	}
}

func TestBreakerStaysOpenForNoLongerThanAMinute(t *testing.T) {
	b := &breaker{}
	now := noon
	failTimes(b, 11, weightNoResponse, now)
	for range 50 {
		now = b.openUntil(now)
		l, _ := b.ask(now)
		b.failed(l.probe, weightNoResponse, now, func(n int) time.Duration { return time.Duration(n) * time.Hour })
		if wait := b.openUntil(now).Sub(now); wait > LongestBreak {
			t.Fatalf("it waits %s", wait)
		}
	}
}

func TestBreakerHoldsAsAsked(t *testing.T) {
	b := &breaker{}
	b.hold(noon, noon.Add(30*time.Minute))
	if l, _ := b.ask(noon); !l.until.Equal(noon.Add(30 * time.Minute)) {
		t.Errorf("it answers %+v", l)
	}
	b.hold(noon, noon.Add(time.Minute))
	if until := b.openUntil(noon); !until.Equal(noon.Add(30 * time.Minute)) {
		t.Errorf("an earlier time shortens it to %s", until)
	}
}

// A Retry-After keeps the breaker open, and is no failure.
func TestBreaker_Failing(t *testing.T) {
	b := &breaker{}
	b.hold(noon, noon.Add(30*time.Second))
	if b.failing(noon) || b.openUntil(noon).IsZero() {
		t.Error("a held breaker is failing, or closed")
	}
	at := noon.Add(30 * time.Second)
	l, _ := b.ask(at)
	if b.failed(l.probe, weightNoResponse, at, seconds5); !b.failing(at) {
		t.Error("not failing after a failed probe")
	}
	if b.failing(at.Add(5 * time.Second)) {
		t.Error("failing when the next probe is due")
	}
	if b.hold(at, at.Add(time.Minute)); b.failing(at) {
		t.Error("failing although the endpoint has responded since")
	}
}

func TestBreakerIsDownWhileItIsTried(t *testing.T) {
	b := &breaker{}
	if b.down(noon) {
		t.Error("down before anything failed")
	}
	failTimes(b, 11, weightNoResponse, noon)
	probeAt := noon.Add(5 * time.Second)
	for after, want := range map[time.Duration]bool{0: true, forgottenAfter - 1: true, forgottenAfter: false} {
		if got := b.down(probeAt.Add(after)); got != want {
			t.Errorf("%s after the probe was due: %v", after, got)
		}
	}
	b.succeeded(probeAt)
	if b.down(noon) {
		t.Error("down after a success")
	}
}
