package events

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

var accepted = time.Date(2026, time.July, 1, 12, 0, 0, 123_456_789, time.UTC)

func TestNewTrigger_Fields(t *testing.T) {
	w := pricing.Window{Start: accepted.Truncate(time.Hour), End: accepted.Truncate(time.Hour).Add(time.Hour)}
	tr := NewTrigger("org", w, accepted.In(time.FixedZone("", 3600)))
	if tr.OrganizationID != "org" || tr.Window() != w || !strings.HasPrefix(tr.ID, "trg_") || !storage.ValidID(tr.ID) {
		t.Errorf("got %+v", tr)
	}
	tr.Sequence = 5
	var stored Trigger
	text, err := json.Marshal(tr)
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	tr.Sequence = 0 // the reader of the log sets it
	if err != nil || !reflect.DeepEqual(stored, tr) {
		t.Errorf("stored trigger %s reads as %+v, %v, want %+v", text, stored, err, tr)
	}
}

// Only a walk of many homes to few endpoints has wide slices. An endpoint that asks for
// changes keeps its signals for each narrow slice.
func TestTrigger_StartFrom(t *testing.T) {
	endpoint := func(id string, mode storage.DeliveryMode) storage.Entity {
		e := storage.NewWebhookEndpoint("org")
		e.ID, e.URL, e.DeliveryMode = id, "https://ep.example/", mode
		return &e
	}
	for name, tt := range map[string]struct {
		homes     int
		endpoints []storage.Entity
		wide      bool
	}{
		"many homes":          {wideFrom, []storage.Entity{endpoint("a", storage.DeliverAlways)}, true},
		"fewer homes":         {wideFrom - 1, []storage.Entity{endpoint("a", storage.DeliverAlways)}, false},
		"onChange":            {wideFrom, []storage.Entity{endpoint("a", storage.DeliverAlways), endpoint("b", storage.DeliverOnChange)}, false},
		"five endpoints":      {wideFrom, []storage.Entity{endpoint("a", storage.DeliverAlways), endpoint("b", storage.DeliverAlways), endpoint("c", storage.DeliverAlways), endpoint("d", storage.DeliverAlways), endpoint("e", storage.DeliverAlways)}, false},
		"without an endpoint": {wideFrom, nil, true},
	} {
		store, _, _ := storagetest.NewStore(time.Now)
		list := tt.endpoints
		for i := range tt.homes {
			list = append(list, storagetest.Home("org", fmt.Sprint("home_", i), "plan"))
		}
		storagetest.Put(t, store, list...)
		tr := NewTrigger("org", pricing.Window{}, accepted)
		if err := store.View(func(v storage.View) error { return tr.StartFrom(v, 7) }); err != nil {
			t.Fatal(err)
		}
		if tr.Wide != tt.wide || tr.Homes != 7 || tr.Revision == 0 || tr.SliceHomes() != map[bool]int{false: 64, true: 256}[tt.wide] {
			t.Errorf("%s: wide is %t, %d homes, revision %d", name, tr.Wide, tr.Homes, tr.Revision)
		}
	}
}

func TestTrigger_Deadline(t *testing.T) {
	for name, tt := range map[string]struct {
		end    time.Duration // of the window, from the trigger
		giveUp float64       // seconds
		want   time.Duration
	}{
		"the window's end comes first":                       {time.Hour, 86400, time.Hour},
		"the policy's end comes first":                       {24 * time.Hour, 600, 10 * time.Minute},
		"a day is the maximum":                               {31 * 24 * time.Hour, 86400, 24 * time.Hour},
		"a longer policy does not count":                     {31 * 24 * time.Hour, 1e9, 24 * time.Hour},
		"no retries":                                         {time.Hour, 0, 0},
		"a past window does not count":                       {-time.Hour, 600, 10 * time.Minute},
		"a window that ends with the trigger does not count": {0, 600, 10 * time.Minute},
		"a window that ends a moment later counts":           {time.Millisecond, 600, time.Millisecond},
	} {
		created := accepted.Truncate(time.Millisecond)
		tr := Trigger{CreatedAt: storage.Time{Time: created}, End: storage.Time{Time: created.Add(tt.end)}}
		if got := tr.Deadline(storage.RetryPolicy{GiveUpSeconds: tt.giveUp}); !got.Equal(created.Add(tt.want)) {
			t.Errorf("%s: %s after the trigger, want %s", name, got.Sub(created), tt.want)
		}
	}
}

func TestKeys_Unique(t *testing.T) {
	of := func(round int, endpoint string, homes ...string) string {
		r := Retry{Round: round, RetryInputs: RetryInputs{EndpointID: endpoint}, Attempt: 1}
		for _, h := range homes {
			r.Homes = append(r.Homes, RetryHome{HomeID: h})
		}
		return r.Key()
	}
	if key := of(1, "ep", "a", "b"); key != of(1, "ep", "a", "b") || strings.ContainsAny(key, " *>") {
		t.Errorf("key %q is not unique", key)
	}
	keys := map[string]string{}
	for name, key := range map[string]string{
		"a slice": (&Slice{Number: 1}).Key(), "another slice": (&Slice{Number: 11}).Key(),
		"a retry": of(1, "ep", "a"), "the next attempt": of(2, "ep", "a"), "another endpoint": of(1, "ep2", "a"),
		"another home": of(1, "ep", "b"), "two homes": of(1, "ep", "a", "b"), "the home and a third": of(1, "ep", "a", "c"),
	} {
		if other, taken := keys[key]; taken {
			t.Errorf("%s and %s have the key %s", name, other, key)
		}
		keys[key] = name
	}
}

func TestOutcome_Final(t *testing.T) {
	for _, o := range Outcomes() {
		if o.Final() == (o == OutcomeRetrying) {
			t.Errorf("%s: final is %v", o, o.Final())
		}
	}
	if len(Outcomes()) != 8 {
		t.Errorf("%d outcomes", len(Outcomes()))
	}
}
