package webhook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/dispatcher/internal/drawtest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// The body is an envelope around the API's price signal.
func TestMessage_BodyEqualsAPI(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawtest.Trigger(rt)
		signal := signals.Signal{HomeID: "home_1", Curve: drawtest.Curve(rt, tr.Window()), Revision: 42}
		m := NewMessage(&tr, "ep", signal, storage.FormatSignal)
		body := m.AppendBody([]byte("kept"))[len("kept"):]
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
			rt.Fatalf("message is %s of %s", got.Type, got.Timestamp)
		}
		if !reflect.DeepEqual(got.Data, api) {
			rt.Fatalf("other fields are\n%s, want\n%s", body, signal.Append(nil, tr.CreatedAt.Time))
		}
	})
}

// An endpoint with the format thin gets the signal's identity in the same envelope. The
// fingerprint tells signals apart.
func TestMessage_Thin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawtest.Trigger(rt)
		signal := signals.Signal{HomeID: "home_1", Curve: drawtest.Curve(rt, tr.Window()), Revision: 42}
		m := NewMessage(&tr, "ep", signal, storage.FormatThin)
		var got struct {
			Type, Timestamp string
			Data            map[string]any
		}
		body := m.AppendBody(nil)
		if err := json.Unmarshal(body, &got); err != nil {
			rt.Fatalf("%v: %s", err, body)
		}
		want := map[string]any{
			"triggerId": tr.ID, "organizationId": "org", "sequence": float64(tr.Sequence), "homeId": "home_1", "ratePlanId": signal.RatePlanID,
			"startTime": tr.Window().Start.Format(storage.TimeLayout), "endTime": tr.Window().End.Format(storage.TimeLayout),
			"fingerprint": signal.Fingerprint(storage.FormatSignal), "path": "/v1/homes/home_1/price_signal",
		}
		if got.Type != storage.EventPriceSignalChanged || !reflect.DeepEqual(got.Data, want) {
			rt.Fatalf("message is %s, want the data %v", body, want)
		}
	})
}

// A notification has the change of its trigger, with the targets that its subscriber may see. Each
// callback of each subscription has a webhook-id of its own.
func TestMessage_Notification(t *testing.T) {
	change := events.Change{ObjectType: storage.OpenADREvent, Operation: events.OperationCreate, Object: json.RawMessage(`{"id":"event-1"}`)}
	tr := &events.Trigger{ID: "trg_1", Change: &change}
	m := NewNotification(tr, "sub_1", "callback_1", []string{"group-a"})
	if want := `{"objectType":"EVENT","operation":"CREATE","object":{"id":"event-1","targets":["group-a"]}}`; string(m.AppendBody(nil)) != want || m.Signals() {
		t.Errorf("notification is %s, want %s", m.AppendBody(nil), want)
	}
	ids := map[string]bool{m.ID(): true}
	for _, other := range [][2]string{{"sub_2", "callback_1"}, {"sub_1", "callback_2"}} {
		o := NewNotification(tr, other[0], other[1], nil)
		ids[o.ID()] = true
	}
	if again := NewNotification(tr, "sub_1", "callback_1", nil); len(ids) != 3 || !ids[again.ID()] {
		t.Errorf("the identifiers are %v, and %s", ids, again.ID())
	}
}

// The size that limits a batch is not below the size of the message's item.
func TestMessage_Size(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawtest.Trigger(rt)
		for _, format := range []storage.SignalFormat{storage.FormatSignal, storage.FormatOpenADR3, storage.FormatThin} {
			m := NewMessage(&tr, "ep", signals.Signal{HomeID: "home_1", Curve: drawtest.Curve(rt, tr.Window()), Revision: 42}, format)
			if n := len(m.appendItem(nil)); n > m.Size() {
				rt.Fatalf("%s: an item has %d bytes, more than %d", format, n, m.Size())
			}
		}
	})
}

// An endpoint with the format OpenADR gets the signal as an event, in the same envelope.
func TestMessage_OpenADR(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawtest.Trigger(rt)
		m := NewMessage(&tr, "ep", signals.Signal{HomeID: "home_1", Curve: drawtest.Curve(rt, tr.Window()), Revision: 42}, storage.FormatOpenADR3)
		body := m.AppendBody(nil)
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
		if got.Type != storage.EventOpenADRUpdated || d.TriggerID != tr.ID || d.OrganizationID != "org" || d.HomeID != "home_1" || d.Sequence != tr.Sequence {
			rt.Fatalf("message is %s", body)
		}
		if want := m.Signal.AppendOpenADR(nil, tr.CreatedAt.Time); len(d.Events) != 1 || !bytes.Equal(d.Events[0], want) {
			rt.Fatalf("events are %s, want %s", d.Events, want)
		}
	})
}
