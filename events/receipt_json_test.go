package events

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

// sampleDelivery draws a delivery that a worker could create.
func sampleDelivery(t *rapid.T, triggerID string) Delivery {
	d := Delivery{
		HomeID:  rapid.StringMatching(`home_[0-9]{1,4}`).Draw(t, "home"),
		Outcome: rapid.SampledFrom(Outcomes()).Draw(t, "outcome"),
		At:      moment(rapid.Int64Range(0, 4e12).Draw(t, "at")),
		Reason:  rapid.SampledFrom([]string{"", "the endpoint responded 500"}).Draw(t, "reason"),
	}
	if d.Outcome == OutcomeUnpriceable || d.Outcome == OutcomeNoEndpoint {
		return d
	}
	d.EndpointID = rapid.SampledFrom([]string{"ep_1", "ep_2"}).Draw(t, "endpoint")
	d.MessageID = MessageID(triggerID, d.HomeID, d.EndpointID)
	d.Attempt = rapid.IntRange(0, 3).Draw(t, "attempt")
	if d.Attempt > 0 {
		d.Status = rapid.SampledFrom([]int{0, 200, 500}).Draw(t, "status")
		d.Milliseconds = float64(rapid.IntRange(0, 30_000_000).Draw(t, "took")) / 1000
		d.Response = rapid.SampledFrom([]string{"", "no \u00e9 \x00"}).Draw(t, "answer")
		d.BatchID = rapid.SampledFrom([]string{"", "bat_1", "bat_2"}).Draw(t, "batch")
		d.ErrorClass = rapid.SampledFrom(append(ErrorClasses(), "")).Draw(t, "class")
		part := rapid.Map(rapid.SampledFrom([]int{0, 0, 1, 1234, 5_000_000}), func(n int) float64 { return float64(n) / 1000 })
		d.Timing = Timing{DNS: part.Draw(t, "dns"), Connect: part.Draw(t, "connect"), TLS: part.Draw(t, "tls"), FirstByte: part.Draw(t, "first byte")}
	}
	if d.Outcome == OutcomeRetrying {
		d.NextAt = moment(rapid.Int64Range(1, 4e12).Draw(t, "next"))
	}
	return d
}

// supersededOf returns the outcomes of a slice that a newer trigger supersedes.
func supersededOf(triggerID string, homes, endpoints int) (list []Delivery) {
	for home := range homes {
		for endpoint := range endpoints {
			d := Delivery{
				HomeID: fmt.Sprintf("home_%07d", home), EndpointID: fmt.Sprintf("ep_01M7YDEW9M1369VPJYNH7DJ%03d", endpoint), Outcome: OutcomeSuperseded,
				At: moment(1_800_000_000_000), Reason: "superseded by the newer trigger trg_01M7YDEW9M1369VPJYNH7DJVSR",
			}
			d.MessageID = MessageID(triggerID, d.HomeID, d.EndpointID)
			list = append(list, d)
		}
	}
	return list
}

// A superseded slice costs little space, because triggers may follow each other faster than
// the walk of many endpoints.
func TestReceiptJSON_SupersededSlice(t *testing.T) {
	const triggerID = "trg_01M7YDEW9M1369VPJYNH7DJVSQ"
	b, err := json.Marshal(Receipt{TriggerID: triggerID, Key: "s3", Deliveries: supersededOf(triggerID, SliceHomes, 50)})
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 10_000 {
		t.Errorf("%d bytes for %d deliveries: %s", len(b), SliceHomes*50, b)
	}
}

// A stored receipt reads the same, in its order.
func TestReceiptJSON_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Receipt{
			TriggerID: storage.NewID("trg_", time.UnixMilli(1_800_000_000_000)), OrganizationID: "acme", Key: "s3",
			Deliveries: []Delivery{},
		}
		if rapid.Bool().Draw(t, "slice") {
			r.Slice = &SliceBounds{Number: 3, After: "a", Through: "b", Homes: 64, Last: true}
		}
		for range rapid.IntRange(0, 20).Draw(t, "deliveries") {
			r.Deliveries = append(r.Deliveries, sampleDelivery(t, r.TriggerID))
		}
		homes, endpoints := rapid.IntRange(0, 4).Draw(t, "homes"), rapid.IntRange(1, 4).Draw(t, "endpoints")
		r.Deliveries = append(r.Deliveries, supersededOf(r.TriggerID, homes, endpoints)...)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got Receipt
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("stored as %s,\nread   %+v,\nwas    %+v", b, got, r)
		}
	})
}

// A delivery of an event has the event's type, which the stored form has once.
func TestReceiptJSON_Event(t *testing.T) {
	const id = "evt_01M7YDEW9M1369VPJYNH7DJVSQ"
	d := Delivery{EventType: storage.EventFlexAlert, EndpointID: "ep", MessageID: MessageID(id, "", "ep"), Outcome: OutcomeFailed, At: moment(1_800_000_000_000)}
	r := Receipt{TriggerID: id, OrganizationID: "acme", Key: "n1.ep", EventType: d.EventType, Deliveries: []Delivery{d}}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got Receipt
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("stored as %s,\nread %+v, %v", b, got, err)
	}
}

func TestReceiptJSON_Invalid(t *testing.T) {
	for _, text := range []string{
		`{"groups":[{"homes":["a"],"at":[]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"took":[1,2]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"places":[1]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"places":[-1]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"places":[0,0]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"every":[1,1]}]}`,
		`{"groups":[{"homes":["a","b"],"at":[1],"every":[0,2]}]}`,
		`{"groups":[{"homes":["a","b","c"],"at":[1,2]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"first":[1,2]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"opened":[[1,0,0,0]]}]}`,
		`{"groups":[{"homes":["a"],"at":[1],"opened":[[-1,0,0,0]]}]}`,
		`[]`,
	} {
		if err := json.Unmarshal([]byte(text), new(Receipt)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

// Partners rely on the identifier, so it must not change.
func TestMessageID_Stable(t *testing.T) {
	got := MessageID("trg_01M7YDEW9M1369VPJYNH7DJVSQ", "home_1", "ep_1")
	if want := "msg_01M7YDEW9M"; len(got) != len(want)+16 || got[:len(want)] != want {
		t.Errorf("identifier is %s", got)
	}
	if got != MessageID("trg_01M7YDEW9M1369VPJYNH7DJVSQ", "home_1", "ep_1") || !storage.ValidID(got) {
		t.Errorf("%s is not stable or not valid", got)
	}
	for _, other := range []string{
		MessageID("trg_01M7YDEW9M1369VPJYNH7DJVSQ", "home_1e", "p_1"),
		MessageID("trg_01M7YDEW9M1369VPJYNH7DJVSR", "home_1", "ep_1"),
	} {
		if other == got {
			t.Errorf("%s is also another message's identifier", got)
		}
	}
}

func FuzzReceipt_JSON(f *testing.F) {
	f.Add([]byte(`{"triggerId":"t","groups":[{"outcome":"DELIVERED","homes":["a","b"],"at":[0,1],"took":[5,6],"first":[4],"opened":[[1,2,3,4]]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Receipt
		if json.Unmarshal(b, &r) != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkReceipt_JSON(b *testing.B) {
	const triggerID = "trg_01M7YDEW9M1369VPJYNH7DJVSQ"
	one := make([]Delivery, SliceHomes)
	for i := range one {
		one[i] = Delivery{HomeID: "home_0000001", EndpointID: "ep_01M7YDEW9M1369VPJYNH7DJVSQ", Outcome: OutcomeDelivered, Attempt: 1, Status: 200, At: moment(1_800_000_000_000), Milliseconds: 1.234}
	}
	for name, deliveries := range map[string][]Delivery{"delivered": one, "superseded at 50 endpoints": supersededOf(triggerID, SliceHomes, 50)} {
		b.Run(name, func(b *testing.B) {
			r := Receipt{TriggerID: triggerID, OrganizationID: "acme", Key: "s3", Slice: &SliceBounds{}, Deliveries: deliveries}
			b.ReportAllocs()
			for b.Loop() {
				text, err := json.Marshal(r)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(text)), "bytes")
				if err := json.Unmarshal(text, new(Receipt)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
