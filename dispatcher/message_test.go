package dispatcher

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// drawCurve draws the curve of a window.
func drawCurve(rt *rapid.T, w pricing.Window) *signals.Curve {
	price := rapid.SampledFrom([]float64{0, 0.1, 0.123456, -0.05, 1e-6, 12345.678901})
	var runs []pricing.Run
	for left := w.Len(); left > 0; {
		r := pricing.Run{
			N: rapid.IntRange(1, left).Draw(rt, "run"), Price: price.Draw(rt, "price"), Import: price.Draw(rt, "import"),
			Export: price.Draw(rt, "export"), Confidence: rapid.SampledFrom([]float64{1, 0.5}).Draw(rt, "confidence"),
		}
		runs, left = append(runs, r), left-r.N
	}
	c, err := pricing.CurveFromRuns(w, runs, pricing.ExportCompensation{
		Type:        rapid.SampledFrom([]pricing.CompensationType{pricing.NetMetering, pricing.NoExport}).Draw(rt, "type"),
		Source:      rapid.String().Draw(rt, "source"),
		Description: rapid.String().Draw(rt, "description"),
	}, rapid.SampledFrom([]string{"", "a \"tariff\" <of> some year\n"}).Draw(rt, "import source"))
	if err != nil {
		rt.Fatal(err)
	}
	var grams []float64
	if rapid.Bool().Draw(rt, "place is known") {
		grams = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 411.5, 800}), c.Len(), c.Len()).Draw(rt, "emissions")
	}
	return signals.NewCurve(*c, rapid.SampledFrom([]string{"", "plan_1"}).Draw(rt, "plan")).WithEmissions(grams)
}

func drawTrigger(rt *rapid.T) events.Trigger {
	start := noon.Add(time.Duration(rapid.IntRange(-100, 100).Draw(rt, "start")) * pricing.Interval)
	end := start.Add(time.Duration(rapid.IntRange(1, 200).Draw(rt, "intervals")) * pricing.Interval)
	t := events.NewTrigger("org", pricing.Window{Start: start, End: end}, noon.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(rt, "at"))))
	t.Sequence = uint64(rapid.IntRange(1, 1e9).Draw(rt, "sequence"))
	return t
}

// The body is an envelope around the price signal that the API answers.
func TestTheBodyIsTheSignalOfTheAPI(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawTrigger(rt)
		signal := signals.Signal{HomeID: "home_1", Curve: drawCurve(rt, tr.Window()), Revision: 42}
		m := newMessage(&tr, "ep", signal)
		body := m.appendBody([]byte("kept"))[len("kept"):]
		var got struct {
			Type      string
			Timestamp storage.Time
			Data      map[string]json.RawMessage
		}
		if err := json.Unmarshal(body, &got); err != nil {
			rt.Fatalf("%v: %s", err, body)
		}
		var api map[string]json.RawMessage
		if err := json.Unmarshal(signal.Append(nil, tr.CreatedAt.Time), &api); err != nil {
			rt.Fatal(err)
		}
		for name, want := range map[string]any{"triggerId": tr.ID, "organizationId": "org", "sequence": tr.Sequence} {
			text, _ := json.Marshal(want)
			if string(got.Data[name]) != string(text) {
				rt.Fatalf("%s is %s, want %s", name, got.Data[name], text)
			}
			delete(got.Data, name)
		}
		if got.Type != storage.EventPriceSignalUpdated || !got.Timestamp.Equal(tr.CreatedAt.Time) {
			rt.Fatalf("it is %s of %s", got.Type, got.Timestamp)
		}
		if !reflect.DeepEqual(got.Data, api) {
			rt.Fatalf("the rest is\n%s, want\n%s", body, signal.Append(nil, tr.CreatedAt.Time))
		}
	})
}

// An endpoint that asks for OpenADR gets the signal as an event, in the same
// envelope.
func TestTheBodyMayBeAnEventOfOpenADR(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawTrigger(rt)
		m := newMessage(&tr, "ep", signals.Signal{HomeID: "home_1", Curve: drawCurve(rt, tr.Window()), Revision: 42})
		m.format = storage.FormatOpenADR3
		body := m.appendBody(nil)
		var got struct {
			Type string
			Data struct {
				TriggerID, OrganizationID, HomeID string
				Sequence                          uint64
				Events                            []json.RawMessage
			}
		}
		if err := json.Unmarshal(body, &got); err != nil {
			rt.Fatalf("%v: %s", err, body)
		}
		d := got.Data
		if got.Type != storage.EventPriceSignalUpdated || d.TriggerID != tr.ID || d.OrganizationID != "org" || d.HomeID != "home_1" || d.Sequence != tr.Sequence {
			rt.Fatalf("it is %s", body)
		}
		if want := m.signal.AppendOpenADR(nil, tr.CreatedAt.Time); len(d.Events) != 1 || !bytes.Equal(d.Events[0], want) {
			rt.Fatalf("the events are %s, want %s", d.Events, want)
		}
	})
}

// A retry, stored and read as JSON, makes the same identifiers and, to the byte,
// the same bodies again.
func TestARetryMakesTheSameMessages(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawTrigger(rt)
		e := &endpoint{WebhookEndpoint: storage.WebhookEndpoint{ID: "ep"}, breaker: &breaker{}}
		var curves []*signals.Curve
		for range rapid.IntRange(1, 3).Draw(rt, "curves") {
			curves = append(curves, drawCurve(rt, tr.Window()))
		}
		var jobs []job
		format := rapid.SampledFrom(storage.SignalFormats()).Draw(rt, "format")
		for i := range rapid.IntRange(1, 10).Draw(rt, "homes") {
			signal := signals.Signal{HomeID: "home_" + string(rune('a'+i)), Curve: rapid.SampledFrom(curves).Draw(rt, "curve"), Revision: uint64(i)}
			m := newMessage(&tr, "ep", signal)
			m.format = format
			jobs = append(jobs, job{message: m, endpoint: e, attempt: 1})
		}
		results := make([]result, len(jobs))
		for i := range results {
			results[i] = result{dueAt: noon.Add(time.Duration(i) * time.Second), nextAttempt: 2}
		}
		retries := groupRetries(&tr, jobs, results)
		if len(retries) != 1 {
			rt.Fatalf("%d retries of one slice that failed", len(retries))
		}
		var stored events.Retry
		text, err := json.Marshal(retries[0])
		if err == nil {
			err = json.Unmarshal(text, &stored)
		}
		if err != nil {
			rt.Fatal(err)
		}
		again := stored.Trigger
		again.Sequence = stored.Sequence
		made, err := retryJobs(&again, &stored, e)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range jobs {
			before, after := jobs[i].appendBody(nil), made[i].appendBody(nil)
			if made[i].id != jobs[i].id || !bytes.Equal(before, after) || made[i].attempt != 2 || made[i].round != 1 {
				rt.Fatalf("%s becomes %s, attempt %d of round %d:\n%s\n%s", jobs[i].id, made[i].id, made[i].attempt, made[i].round, before, after)
			}
		}
	})
}

func TestARetryThatDoesNotFitIsRefused(t *testing.T) {
	tr := events.NewTrigger("org", pricing.Window{Start: noon, End: noon.Add(time.Hour)}, noon)
	runs := []pricing.Run{{N: 4, Price: 1, Confidence: 1}}
	for name, r := range map[string]events.Retry{
		"a curve that it does not carry": {Homes: []events.RetryHome{{HomeID: "h", Curve: 1}}, Curves: []events.RetryCurve{{Runs: runs}}},
		"a negative one":                 {Homes: []events.RetryHome{{HomeID: "h", Curve: -1}}, Curves: []events.RetryCurve{{Runs: runs}}},
		"a curve of another window":      {Homes: []events.RetryHome{{HomeID: "h"}}, Curves: []events.RetryCurve{{Runs: runs[:0]}}},
	} {
		if jobs, err := retryJobs(&tr, &r, &endpoint{}); err == nil {
			t.Errorf("%s makes %d jobs", name, len(jobs))
		}
	}
}

// groups are the retries of some results: how many homes each has, and when it is
// due, in seconds.
func groups(down bool, due ...int) (list [][2]int) {
	tr := events.NewTrigger("org", pricing.Window{Start: noon, End: noon.Add(time.Hour)}, noon)
	policy := storage.RetryPolicy{InitialSeconds: 80, Multiplier: 2, MaxSeconds: 600}
	e := &endpoint{WebhookEndpoint: storage.WebhookEndpoint{ID: "ep", RetryPolicy: policy}, breaker: &breaker{}}
	if down {
		e.breaker.probeAt = noon
	}
	c := signals.NewCurve(pricing.Curve{Window: tr.Window()}, "")
	jobs, results := make([]job, len(due)), make([]result, len(due))
	for i, d := range due {
		jobs[i] = job{message: newMessage(&tr, "ep", signals.Signal{HomeID: string(rune('a' + i)), Curve: c}), endpoint: e, attempt: 1}
		if d >= 0 {
			results[i] = result{dueAt: noon.Add(time.Duration(d) * time.Second), nextAttempt: 2}
		}
	}
	for _, r := range groupRetries(&tr, jobs, results) {
		list = append(list, [2]int{len(r.Homes), int(r.DueAt.Sub(noon) / time.Second)})
	}
	return list
}

func TestGroupRetries(t *testing.T) {
	for name, tt := range map[string]struct {
		down bool
		due  []int // -1 for a home that is done
		want [][2]int
	}{
		"nothing failed":             {false, []int{-1, -1}, nil},
		"one home of three":          {false, []int{-1, 5, -1}, [][2]int{{1, 5}}},
		"two of three, each alone":   {false, []int{15, 5, -1}, [][2]int{{1, 15}, {1, 5}}},
		"by parts of the pause":      {false, []int{3, 19, 7, 11, -1, 79, 70}, [][2]int{{2, 7}, {2, 11}, {2, 70}}},
		"the whole slice, one pause": {false, []int{3, 9, 5}, [][2]int{{3, 5}}},
		"a slice of one":             {false, []int{3}, [][2]int{{1, 3}}},
		"some, of an endpoint down":  {true, []int{-1, 9, 5}, [][2]int{{2, 5}}},
		"none, of an endpoint down":  {true, []int{-1}, nil},
		"nothing to do, and no jobs": {false, nil, nil},
	} {
		if got := groups(tt.down, tt.due...); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// What waits together waits for as long as the endpoint asked of any of it.
func TestWhatWaitsTogetherHonoursRetryAfter(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	results := []result{{dueAt: at(40), notBefore: at(30)}, {dueAt: at(90), notBefore: at(20)}, {dueAt: at(5)}}
	for _, tt := range []struct {
		which []int
		want  int
	}{{[]int{0}, 40}, {[]int{0, 2}, 30}, {[]int{1, 2}, 20}, {[]int{0, 1}, 90}, {[]int{0, 1, 2}, 30}} {
		if got := dueTogether(results, tt.which); !got.Equal(at(tt.want)) {
			t.Errorf("%v are due after %s, want %d s", tt.which, got.Sub(noon), tt.want)
		}
	}
}
