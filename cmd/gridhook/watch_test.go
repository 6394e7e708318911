package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/events"
)

func progress(status, outcomes string) answer {
	return ok(fmt.Sprintf(`{"triggerId":"trg_1","organizationId":"acme","status":%q,"homes":3,"outcomes":{%s}}`, status, outcomes))
}

func TestWatch(t *testing.T) {
	tests := []struct {
		name  string
		looks []answer
		code  int
		says  string
	}{
		{
			"all reached",
			[]answer{progress("ACCEPTED", ``), progress("RUNNING", `"DELIVERED":1,"RETRYING":2`), progress("COMPLETED", `"DELIVERED":1,"UNCHANGED":1,"SUPERSEDED":1`)},
			0, "",
		},
		{
			"some not",
			[]answer{progress("RUNNING", ``), progress("COMPLETED", `"DELIVERED":1,"UNPRICEABLE":2`)},
			exitFailure, "gridhook: not every home was reached: see gridhook delivery list --org acme --trigger trg_1 (2 of them)\n",
		},
		{
			"nobody to ask any more",
			[]answer{progress("RUNNING", ``), {500, `{"error_code":"INTERNAL","message":"Something went wrong."}`}},
			exitFailure, "The trigger goes on: gridhook trigger get trg_1 --org acme\ngridhook: Something went wrong\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":3}`))
			f.on("/v1/webhook/price_signal/trigger/trg_1/get", test.looks...)
			got := run(t, f, "", []string{"trigger", "--org", "acme", "--watch"})
			if got.code != test.code || got.err != test.says {
				t.Errorf("exit %d, want %d; it says\n%swant\n%s", got.code, test.code, got.err, test.says)
			}
			if n := len(f.requests); n != 1+len(test.looks) {
				t.Errorf("it asked %d times, want %d", n, 1+len(test.looks))
			}
			if completed := strings.Contains(got.out, "COMPLETED"); completed != strings.Contains(test.looks[len(test.looks)-1].body, "COMPLETED") {
				t.Errorf("it shows\n%s", got.out)
			}
		})
	}
}

func TestOutcomeLine(t *testing.T) {
	p := events.Progress{Outcomes: map[events.Outcome]int{
		events.OutcomeDelivered: 5, events.OutcomeRetrying: 2, events.OutcomeFailed: 1, events.OutcomeExpired: 1, events.OutcomeUnchanged: 9,
	}}
	if got, want := outcomeLine(p), "5 delivered, 2 retrying, 2 not delivered"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestBarLine(t *testing.T) {
	tests := []struct {
		done, total int64
		want        string
	}{
		{0, 200, strings.Repeat("░", 30) + "   0% of 200 homes  x"},
		{100, 200, strings.Repeat("█", 15) + strings.Repeat("░", 15) + "  50% of 200 homes  x"},
		{300, 200, strings.Repeat("█", 30) + " 100% of 200 homes  x"},
		{7, 0, "7 homes  x"},
	}
	if got, want := barLine("", 50, 100, "x"), strings.Repeat("█", 15)+strings.Repeat("░", 15)+"  50%  x"; got != want {
		t.Errorf("a share of nothing in particular is %q, want %q", got, want)
	}
	for _, test := range tests {
		if got := barLine("homes", test.done, test.total, "x"); got != test.want {
			t.Errorf("%d of %d is %q, want %q", test.done, test.total, got, test.want)
		}
	}
}

func TestBarKeepsQuietWhereNobodyLooks(t *testing.T) {
	var w strings.Builder
	b := newBar(&w, "homes", 3)
	b.show(1, "x")
	b.end()
	if w.Len() > 0 {
		t.Errorf("it wrote %q", w.String())
	}
}

func TestBarClearsItsLine(t *testing.T) {
	var w strings.Builder
	b := &bar{w: &w, what: "homes"}
	b.show(1, "long words")
	b.show(2, "x")
	b.end()
	if got, want := w.String(), "\r1 homes  long words\r2 homes  x         \r          \r"; got != want {
		t.Errorf("it wrote %q, want %q", got, want)
	}
}
