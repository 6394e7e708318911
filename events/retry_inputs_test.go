package events

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

func sampleInputs() RetryInputs {
	return RetryInputs{
		EndpointID: "ep", Slice: 3,
		Homes:  []RetryHome{{HomeID: "a", Curve: 0, Revision: 5}, {HomeID: "b", Curve: 1, Revision: 6}, {HomeID: "c", Curve: 1, Revision: 7}, {HomeID: "d", Curve: 9}},
		Curves: []RetryCurve{{RatePlanID: "p0"}, {RatePlanID: "p1"}},
	}
}

func TestRetryInputs_SomeHomes(t *testing.T) {
	k := sampleInputs()
	part, ok := k.Of(func(id string) bool { return id >= "b" })
	want := RetryInputs{EndpointID: "ep", Slice: 3, Homes: []RetryHome{{HomeID: "b", Curve: 0, Revision: 6}, {HomeID: "c", Curve: 0, Revision: 7}}, Curves: []RetryCurve{{RatePlanID: "p1"}}}
	if !ok || !reflect.DeepEqual(part, want) {
		t.Errorf("the inputs are %+v, want %+v", part, want)
	}
	if _, ok := k.Of(func(id string) bool { return id == "z" }); ok {
		t.Error("there are inputs without homes")
	}
	if !reflect.DeepEqual(k, sampleInputs()) {
		t.Error("a selection changes the original")
	}
}

func TestRetryInputs_Bounded(t *testing.T) {
	of := func(runs int) RetryInputs {
		return RetryInputs{Curves: []RetryCurve{{Runs: make([]pricing.Run, runs)}}}
	}
	small, large, emitting := of(maxInputRuns), of(maxInputRuns+1), of(maxInputRuns)
	emitting.Curves[0].Emissions = make([]EmissionRun, 1)
	if !small.Fits(nil) || large.Fits(nil) || emitting.Fits(nil) || small.Fits([]RetryInputs{of(1)}) {
		t.Error("the limit is not applied")
	}
	// Inputs within the limit fit into a message.
	k := of(0)
	for range maxInputRuns {
		k.Curves[0].Runs = append(k.Curves[0].Runs, pricing.Run{N: 96, Price: 0.123456, Import: 0.123456, Export: 0.123456, Confidence: 0.95})
	}
	if text, err := json.Marshal(Receipt{RetryInputs: []RetryInputs{k}}); err != nil || len(text) > 900_000 {
		t.Errorf("the message has %d bytes, %v", len(text), err)
	}
}

func TestRetryInputs_ManualRetry(t *testing.T) {
	k := sampleInputs()
	tr := NewTrigger("org", pricing.Window{Start: accepted, End: accepted.Add(time.Hour)}, accepted)
	tr.Sequence = 9
	again := storage.Time{Time: accepted.Add(48 * time.Hour).Truncate(time.Millisecond)}
	due := again.Add(time.Second)
	r, receipt := k.Retry(tr, again, due)
	if r.Attempt != 1 || r.Sequence != 9 || r.Slice != 3 || len(r.Homes) != 4 || !r.DueAt.Equal(due) || !r.Trigger.RetriedAt.Equal(again.Time) {
		t.Errorf("the retry is %+v", r)
	}
	if receipt.Again() != again.UnixMilli() || len(receipt.Deliveries) != 4 || receipt.Deliveries[1].Outcome != OutcomeRetrying ||
		receipt.Deliveries[1].MessageID != MessageID(tr.ID, "b", "ep") {
		t.Errorf("the receipt is %+v", receipt)
	}
	done := Receipt{Key: r.Key()}
	if done.Again() != again.UnixMilli() {
		t.Errorf("the receipt of the retry has the key %s", done.Key)
	}
	before := r
	before.Trigger.RetriedAt = storage.Time{}
	if first := (Receipt{Key: before.Key()}); first.Key == done.Key || first.Again() != 0 {
		t.Errorf("the keys are %s and %s", first.Key, done.Key)
	}
	later, other := k.Retry(tr, storage.Time{Time: again.Add(time.Minute)}, due)
	if later.Key() == r.Key() || other.Key == receipt.Key {
		t.Error("two manual retries have one key")
	}
	// The retry period starts at the manual retry, and so does a window that ends after
	// it.
	policy := storage.RetryPolicy{GiveUpSeconds: 600}
	if got := r.Trigger.Deadline(policy); !got.Equal(again.Add(10 * time.Minute)) {
		t.Errorf("the deadline is %s", got)
	}
	r.Trigger.End = storage.Time{Time: again.Add(time.Minute)}
	if got := r.Trigger.Deadline(policy); !got.Equal(r.Trigger.End.Time) {
		t.Errorf("the deadline is %s, after the window", got)
	}
}
