package dispatcher

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/internal/drawtest"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// A retry that went through JSON makes the same identifiers and the same bodies.
func TestRetryJobs_SameMessages(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawtest.Trigger(rt)
		e := newTarget(storage.RetryPolicy{})
		var curves []*signals.Curve
		for range rapid.IntRange(1, 3).Draw(rt, "curves") {
			curves = append(curves, drawtest.Curve(rt, tr.Window()))
		}
		var jobs []job
		format := rapid.SampledFrom(storage.SignalFormats()).Draw(rt, "format")
		for i := range rapid.IntRange(1, 10).Draw(rt, "homes") {
			signal := signals.Signal{HomeID: "home_" + string(rune('a'+i)), Curve: rapid.SampledFrom(curves).Draw(rt, "curve"), Revision: uint64(i)}
			jobs = append(jobs, job{Message: webhook.NewMessage(&tr, "ep", signal, format), target: e, attempt: 1})
		}
		results := make([]result, len(jobs))
		for i := range results {
			results[i] = result{dueAt: noon.Add(time.Duration(i) * time.Second), nextAttempt: 2}
		}
		retries := batchRetries(&tr, jobs, results, everyJob)
		if len(retries) != 1 {
			rt.Fatalf("failed slice has %d retries", len(retries))
		}
		var stored events.Retry
		text, err := json.Marshal(retries[0])
		if err == nil {
			err = json.Unmarshal(text, &stored)
		}
		if err != nil {
			rt.Fatal(err)
		}
		stored.Trigger.Sequence = stored.Sequence
		made, err := retryJobs(&stored, e)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range jobs {
			before, after := jobs[i].AppendBody(nil), made[i].AppendBody(nil)
			if made[i].ID() != jobs[i].ID() || !bytes.Equal(before, after) || made[i].attempt != 2 || made[i].round != 1 {
				rt.Fatalf("message %s becomes %s, attempt %d of round %d:\n%s\n%s", jobs[i].ID(), made[i].ID(), made[i].attempt, made[i].round, before, after)
			}
		}
	})
}

func TestRetryJobs_Invalid(t *testing.T) {
	tr := events.NewTrigger("org", pricing.Window{Start: noon, End: noon.Add(time.Hour)}, noon)
	runs := []pricing.Run{{N: 4, Price: 1, Confidence: 1}}
	for name, inputs := range map[string]events.RetryInputs{
		"a missing curve":           {Homes: []events.RetryHome{{HomeID: "h", Curve: 1}}, Curves: []events.RetryCurve{{Runs: runs}}},
		"a negative curve":          {Homes: []events.RetryHome{{HomeID: "h", Curve: -1}}, Curves: []events.RetryCurve{{Runs: runs}}},
		"a curve of another window": {Homes: []events.RetryHome{{HomeID: "h"}}, Curves: []events.RetryCurve{{Runs: runs[:0]}}},
	} {
		if jobs, err := retryJobs(&events.Retry{Trigger: tr, RetryInputs: inputs}, newTarget(storage.RetryPolicy{})); err == nil {
			t.Errorf("%s: retry makes %d jobs", name, len(jobs))
		}
	}
}

// newTarget returns a target without history.
func newTarget(p storage.RetryPolicy) *target.Target {
	g := gate.New(gate.Options{Concurrency: 100, EndpointConcurrency: 8, SlowSlices: 3, Now: time.Now, Jitter: func() float64 { return 0.5 }})
	return &target.Target{WebhookEndpoint: storage.WebhookEndpoint{ID: "ep", EndpointSettings: storage.EndpointSettings{RetryPolicy: p}}, Gate: g.NewEndpoint("org")}
}

// groups returns the retries of some results: the number of homes and the due time in
// seconds of each.
func groups(down bool, due ...int) (list [][2]int) {
	tr := events.NewTrigger("org", pricing.Window{Start: noon, End: noon.Add(time.Hour)}, noon)
	policy := storage.RetryPolicy{InitialSeconds: 80, Multiplier: 2, MaxSeconds: 600}
	e := newTarget(policy)
	for down {
		p, err := e.Gate.Enter(context.Background(), func() int { return 1 })
		if err != nil {
			panic(err)
		}
		if p.Leave(gate.Report{Sent: true}) == gate.Opened {
			break
		}
	}
	c := signals.NewCurve(pricing.Curve{Window: tr.Window()}, "")
	jobs, results := make([]job, len(due)), make([]result, len(due))
	for i, d := range due {
		jobs[i] = job{Message: webhook.NewMessage(&tr, "ep", signals.Signal{HomeID: string(rune('a' + i)), Curve: c}, storage.FormatSignal), target: e, attempt: 1}
		if d >= 0 {
			results[i] = result{dueAt: noon.Add(time.Duration(d) * time.Second), nextAttempt: 2}
		}
	}
	for _, r := range batchRetries(&tr, jobs, results, everyJob) {
		list = append(list, [2]int{len(r.Homes), int(r.DueAt.Sub(noon) / time.Second)})
	}
	return list
}

func TestBatchRetries_Groups(t *testing.T) {
	for name, tt := range map[string]struct {
		down bool
		due  []int // -1 for a completed home
		want [][2]int
	}{
		"nothing failed":             {false, []int{-1, -1}, nil},
		"one home of three":          {false, []int{-1, 5, -1}, [][2]int{{1, 5}}},
		"two of three, each alone":   {false, []int{15, 5, -1}, [][2]int{{1, 15}, {1, 5}}},
		"by parts of the delay":      {false, []int{3, 19, 7, 11, -1, 79, 70}, [][2]int{{2, 7}, {2, 11}, {2, 70}}},
		"the whole slice, one delay": {false, []int{3, 9, 5}, [][2]int{{3, 5}}},
		"a slice of one":             {false, []int{3}, [][2]int{{1, 3}}},
		"some, endpoint down":        {true, []int{-1, 9, 5}, [][2]int{{2, 5}}},
		"none, endpoint down":        {true, []int{-1}, nil},
		"nothing to do, and no jobs": {false, nil, nil},
	} {
		if got := groups(tt.down, tt.due...); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// The retries of homes with long curves of their own fit into messages. The longest window has
// 31 days. Homes that share a curve share a message.
func TestBatchRetries_LongCurves(t *testing.T) {
	e := newTarget(storage.DefaultRetryPolicy())
	tr := events.Trigger{ID: "trg", OrganizationID: "org", Start: storage.Time{Time: noon}, End: storage.Time{Time: noon.Add(pricing.MaxWindow)}}
	for _, tt := range []struct{ n, distinct, want int }{{events.WideSliceHomes, 1, 1}, {events.SliceHomes, events.SliceHomes, 7}} {
		curves := make([]*signals.Curve, tt.distinct)
		for i := range curves {
			curve, err := pricing.CurveFromRuns(tr.Window(), longRuns(i, tr.Window().Len()), pricing.ExportCompensation{}, "TARIFF")
			if err != nil {
				t.Fatal(err)
			}
			curves[i] = signals.NewCurve(*curve, "plan")
		}
		jobs, results := make([]job, tt.n), make([]result, tt.n)
		for i := range jobs {
			signal := signals.Signal{HomeID: homeID(i), Curve: curves[i%tt.distinct]}
			jobs[i] = job{Message: webhook.NewMessage(&tr, "ep", signal, storage.FormatSignal), target: e, attempt: 1}
			results[i] = result{dueAt: noon, nextAttempt: 2}
		}
		homes := 0
		retries := batchRetries(&tr, jobs, results, everyJob)
		for i := range retries {
			data, err := json.Marshal(&retries[i])
			if homes += len(retries[i].Homes); err != nil || len(data) > 4<<20 {
				t.Errorf("a retry has %d bytes: %v", len(data), err)
			}
		}
		if homes != len(jobs) || len(retries) != tt.want {
			t.Errorf("with %d curves, %d homes are in %d retries, want %d", tt.distinct, homes, len(retries), tt.want)
		}
	}
}

// longRuns returns runs with a price of its own in each of n intervals.
func longRuns(first, n int) (runs []pricing.Run) {
	for i := range n {
		price := 0.1 + float64(first+i)/7919
		runs = append(runs, pricing.Run{N: 1, Price: price, Import: price, Confidence: 0.9})
	}
	return runs
}

// A retry message waits for the longest Retry-After of its homes.
func TestBatchRetries_RetryAfter(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	results := []result{{dueAt: at(40), notBefore: at(30)}, {dueAt: at(90), notBefore: at(20)}, {dueAt: at(5)}}
	for _, tt := range []struct {
		which []int
		want  int
	}{{[]int{0}, 40}, {[]int{0, 2}, 30}, {[]int{1, 2}, 20}, {[]int{0, 1}, 90}, {[]int{0, 1, 2}, 30}} {
		if got := dueTogether(results, tt.which); !got.Equal(at(tt.want)) {
			t.Errorf("retries %v are due after %s, want %d s", tt.which, got.Sub(noon), tt.want)
		}
	}
}

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
