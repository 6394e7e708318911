package gate

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// seconds5 keeps a breaker open for five seconds.
func seconds5(n int) time.Duration { return time.Duration(n) * 5 * time.Second }

func failTimes(b *breaker, n, weight int, now time.Time) {
	for range n {
		b.failed(false, weight, now, seconds5)
	}
}

func (b *breaker) open() bool { return !b.probeAt.IsZero() }

func TestBreaker_ConsecutiveFailures(t *testing.T) {
	cases := []struct {
		name   string
		n      int
		weight int
		open   bool
	}{
		{"few without a response", 10, weightNoResponse, false},
		{"enough without a response", 11, weightNoResponse, true},
		{"few refusals", 511, weightRefused, false},
		{"enough refusals", 512, weightRefused, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := &breaker{}
			failTimes(b, c.n, c.weight, noon)
			if b.open() != c.open {
				t.Errorf("breaker open is %v, want %v", b.open(), c.open)
			}
		})
	}
	b := &breaker{}
	failTimes(b, 10, weightNoResponse, noon)
	b.succeeded(noon)
	failTimes(b, 10, weightNoResponse, noon)
	if b.open() {
		t.Error("success does not reset the weight of failures")
	}
}

func TestBreaker_Since(t *testing.T) {
	b := &breaker{}
	stands := func(when string, since, probeAt time.Time, open bool) {
		t.Helper()
		if !b.since.Equal(since) || !b.probeAt.Equal(probeAt) || b.open() != open {
			t.Errorf("%s: standing is %v, %v, %v", when, b.since, b.probeAt, b.open())
		}
	}
	fail := func(at time.Time) bool {
		l, _ := b.ask(at)
		return b.failed(l.probe, breakAfter, at, seconds5)
	}
	stands("new breaker", time.Time{}, time.Time{}, false)
	if b.succeeded(noon) {
		t.Error("success closed a closed breaker")
	}
	if !fail(noon) {
		t.Error("failure does not report the opening")
	}
	stands("opened", noon, noon.Add(5*time.Second), true)
	if fail(noon.Add(5 * time.Second)) {
		t.Error("failed probe opened an open breaker")
	}
	stands("after the failed probe", noon, noon.Add(15*time.Second), true)
	b.hold(noon.Add(15*time.Second), noon.Add(time.Minute))
	stands("held", noon, noon.Add(time.Minute), true)
	if !b.succeeded(noon.Add(time.Minute)) {
		t.Error("success does not report the closing")
	}
	stands("closed", time.Time{}, time.Time{}, false)
	b.hold(noon.Add(time.Hour), noon.Add(2*time.Hour))
	stands("held while new", noon.Add(time.Hour), noon.Add(2*time.Hour), true)
}

// Whatever ends a probe releases the requests that wait for it.
func TestBreaker_ProbeEnds(t *testing.T) {
	due := noon.Add(5 * time.Second)
	ends := map[string]func(*breaker){
		"success":  func(b *breaker) { b.succeeded(due) },
		"failure":  func(b *breaker) { b.failed(true, weightRefused, due, seconds5) },
		"hold":     func(b *breaker) { b.hold(due, due.Add(time.Minute)) },
		"not made": func(b *breaker) { b.drop(true) },
		"reset":    func(b *breaker) { b.reset() },
	}
	for name, end := range ends {
		b := &breaker{}
		failTimes(b, 11, weightNoResponse, noon)
		b.ask(due)
		_, probing := b.ask(due)
		end(b)
		select {
		case <-probing:
		default:
			t.Errorf("%s: the requests still wait for the probe", name)
		}
	}
}

func TestBreaker_OneProbe(t *testing.T) {
	b := &breaker{}
	failTimes(b, 11, weightNoResponse, noon)
	if l, probing := b.ask(noon.Add(4 * time.Second)); probing != nil || !l.until.Equal(noon.Add(5*time.Second)) {
		t.Fatalf("permission before the probe is due is %+v", l)
	}
	later := noon.Add(5 * time.Second)
	probe, _ := b.ask(later)
	if !probe.until.IsZero() || !probe.probe {
		t.Fatalf("first permission when due is %+v, want the probe", probe)
	}
	waiting, probing := b.ask(later)
	if waiting.probe || probing == nil {
		t.Fatalf("second permission is %+v, want a wait for the probe", waiting)
	}
	b.failed(false, weightNoResponse, later, seconds5) // a request from before the opening
	b.drop(false)
	select {
	case <-probing:
		t.Fatal("an earlier request ended the probe")
	default:
	}
	b.failed(true, weightNoResponse, later, seconds5)
	<-probing
	if until := b.openUntil(later); !until.Equal(later.Add(10 * time.Second)) {
		t.Errorf("after a failed probe the breaker is open until %s, want longer", until)
	}
	later = later.Add(10 * time.Second)
	probe, _ = b.ask(later)
	b.drop(probe.probe)
	if again, _ := b.ask(later); !again.probe {
		t.Error("no new probe after a canceled probe")
	}
	b.succeeded(later)
	if l, probing := b.ask(later); !l.until.IsZero() || probing != nil || l.probe || b.open() {
		t.Errorf("permission after a success is %+v, want a closed breaker", l)
	}
}

func TestBreaker_LongestBreak(t *testing.T) {
	b := &breaker{}
	now := noon
	failTimes(b, 11, weightNoResponse, now)
	for range 50 {
		now = b.openUntil(now)
		l, _ := b.ask(now)
		b.failed(l.probe, weightNoResponse, now, func(n int) time.Duration { return time.Duration(n) * time.Hour })
		if wait := b.openUntil(now).Sub(now); wait > LongestBreak {
			t.Fatalf("breaker stays open for %s", wait)
		}
	}
}

func TestBreaker_Hold(t *testing.T) {
	b := &breaker{}
	b.hold(noon, noon.Add(30*time.Minute))
	if l, _ := b.ask(noon); !l.until.Equal(noon.Add(30 * time.Minute)) {
		t.Errorf("permission is %+v", l)
	}
	b.hold(noon, noon.Add(time.Minute))
	if until := b.openUntil(noon); !until.Equal(noon.Add(30 * time.Minute)) {
		t.Errorf("an earlier Retry-After shortens the hold to %s", until)
	}
}

// A Retry-After keeps the breaker open, and does not count as a failure.
func TestBreaker_Failing(t *testing.T) {
	b := &breaker{}
	b.hold(noon, noon.Add(30*time.Second))
	if b.failing(noon) || b.openUntil(noon).IsZero() {
		t.Error("held breaker is failing or closed")
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

// An endpoint that only asks to wait for more than an hour fails. A wait of the day before does
// not count.
func TestBreaker_LongHold(t *testing.T) {
	b := &breaker{}
	b.hold(noon.Add(-24*time.Hour), noon.Add(-23*time.Hour))
	for at := noon; at.Before(noon.Add(2 * time.Hour)); at = at.Add(10 * time.Minute) {
		b.hold(at, at.Add(10*time.Minute))
		if got, want := b.failing(at), at.After(noon.Add(time.Hour)); got != want {
			t.Errorf("failing %s after the first request to wait: %v", at.Sub(noon), got)
		}
	}
	if b.succeeded(noon.Add(2 * time.Hour)); b.failing(noon.Add(2 * time.Hour)) {
		t.Error("failing after a success")
	}
}

func TestBreaker_DownUntilForgotten(t *testing.T) {
	b := &breaker{}
	if b.down(noon) {
		t.Error("down before any failure")
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

// TestBreaker_LateProbe checks that the failure of a probe does not open a breaker that an
// earlier request has closed meanwhile.
func TestBreaker_LateProbe(t *testing.T) {
	b := &breaker{}
	failTimes(b, 11, weightNoResponse, noon)
	later := noon.Add(10 * time.Second)
	if p, _ := b.ask(later); !p.probe {
		t.Fatal("no probe is permitted")
	}
	if !b.succeeded(later) {
		t.Fatal("a success leaves the breaker open")
	}
	if b.failed(true, weightRefused, later, seconds5) || b.open() {
		t.Error("one refusal has opened a closed breaker")
	}
}
