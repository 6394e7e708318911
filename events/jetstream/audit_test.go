package jetstream

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// A filter finds entries of any age, and the same entries on pages of any length.
func TestAudit_Filters(t *testing.T) {
	b := newBus(t, t.TempDir())
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	const entries = 120
	for i := range entries {
		org := "acme"
		if i%50 == 3 {
			org = "bolt"
		}
		e := storage.AuditEntry{
			Time: storage.Time{Time: start.Add(time.Duration(i) * time.Minute)}, OrganizationID: org,
			KeyID: fmt.Sprintf("key_%d", i%2), Operation: "createEndpoint", ObjectID: fmt.Sprint(i), Status: 200,
		}
		if i == 0 {
			e.OrganizationID, e.Operation = "", "import"
		}
		if err := b.PutAudit(within(t), e); err != nil {
			t.Fatal(err)
		}
	}
	at := func(i int) storage.Time { return storage.Time{Time: start.Add(time.Duration(i) * time.Minute)} }
	for _, c := range []struct {
		name   string
		filter storage.AuditFilter
		want   []string
	}{
		{"organization", storage.AuditFilter{OrganizationID: "bolt"}, []string{"103", "53", "3"}},
		{"shared records", storage.AuditFilter{OrganizationID: storage.Shared}, []string{"0"}},
		{"operation", storage.AuditFilter{Operation: "import"}, []string{"0"}},
		{"key and times", storage.AuditFilter{KeyID: "key_1", Since: at(7), Until: at(11)}, []string{"9", "7"}},
		{"unknown organization", storage.AuditFilter{OrganizationID: "none"}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 1000} {
				got := []string{}
				for before := ""; ; {
					page, err := b.Audit(within(t), c.filter, before, limit)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range page {
						got, before = append(got, e.ObjectID), e.ID
					}
					if len(page) < limit {
						break
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%d at a time: %v, want %v", limit, got, c.want)
				}
			}
		})
	}
}

// An entry that does not decode is left out of a list, also where the search for a time meets
// it.
func TestAudit_DamagedEntry(t *testing.T) {
	b := newBus(t, t.TempDir())
	for i := range 9 {
		if i%2 == 1 {
			_, err := b.js.Publish(within(t), auditSubject("acme", "partner", "createEndpoint"), []byte("garbage"))
			must(t, err)
			continue
		}
		e := storage.AuditEntry{Time: storage.Time{Time: time.Now()}, OrganizationID: "acme", KeyID: "key_1", Operation: "createEndpoint", ObjectID: fmt.Sprint(i), Status: 200}
		must(t, b.PutAudit(within(t), e))
	}
	for _, f := range []storage.AuditFilter{{}, {OrganizationID: "acme", Until: storage.Time{Time: time.Now().Add(time.Minute)}}} {
		page, err := b.Audit(within(t), f, "", 10)
		var got []string
		for _, e := range page {
			got = append(got, e.ObjectID)
		}
		if want := []string{"8", "6", "4", "2", "0"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v lists %v, %v, want %v", f, got, err, want)
		}
	}
	if page, err := b.Audit(within(t), storage.AuditFilter{Until: storage.Time{Time: time.Now().Add(-time.Hour)}}, "", 10); err != nil || len(page) != 0 {
		t.Errorf("before the first entry: %v, %v", page, err)
	}
}

// The entry of a request that began before the filter's time and was stored after others does
// not hide them.
func TestAudit_LongRequest(t *testing.T) {
	b := newBus(t, t.TempDir())
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	put := func(after time.Duration) {
		e := storage.AuditEntry{Time: storage.Time{Time: start.Add(after)}, OrganizationID: "acme", KeyID: "key", Operation: "import", Status: 200}
		if err := b.PutAudit(within(t), e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		put(time.Duration(i) * time.Second)
	}
	put(-time.Second)
	for range 9 {
		put(time.Minute)
	}
	page, err := b.Audit(within(t), storage.AuditFilter{OrganizationID: "acme", Since: storage.Time{Time: start}}, "", 10)
	if err != nil || len(page) != 10 {
		t.Errorf("a page has %d entries, %v, want 10 of 39", len(page), err)
	}
}

// The entries of one operation of an organization are limited, for all its API keys together.
// Entries of operators and of other operations stay.
func TestAudit_IsBounded(t *testing.T) {
	for _, c := range []struct {
		store       int64
		entries, of int64
	}{
		{0, mostAudit, mostAudit / 100},
		{1 << 30, 32768, 327},
		{1 << 20, 32, 1},
	} {
		for _, cfg := range Configs(Options{Store: c.store}) {
			if cfg.Name == auditStream && (cfg.MaxMsgs != c.entries || cfg.MaxMsgsPerSubject != c.of || cfg.MaxAge != auditAge || cfg.MaxMsgSize != auditSize) {
				t.Errorf("in a store of %d bytes the stream is %+v", c.store, cfg)
			}
		}
	}
	o := streamOptions
	o.Store = 4 << 20
	b := newBusWith(t, t.TempDir(), o)
	put := func(key, operation string) {
		must(t, b.PutAudit(within(t), storage.AuditEntry{OrganizationID: "acme", KeyID: key, Operation: operation, Status: 200}))
	}
	put("key_1", "createEndpoint")
	put("operator", "createEndpoint")
	put("key_1", "updateEndpoint")
	for i := range 3 {
		put(fmt.Sprintf("key_%d", 2+i), "createEndpoint")
	}
	page, err := b.Audit(within(t), storage.AuditFilter{OrganizationID: "acme"}, "", 10)
	var got []string
	for _, e := range page {
		got = append(got, e.KeyID+" "+e.Operation)
	}
	if want := []string{"key_4 createEndpoint", "key_1 updateEndpoint", "operator createEndpoint"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the entries are %q, %v, want %q", got, err, want)
	}
}

// A filter finds the entry of a key behind more entries than one request reads.
func TestAudit_RareKey(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	const busy = scanBatch + 100
	for i := range busy + 1 {
		e := storage.AuditEntry{Time: storage.Time{Time: noon}, OrganizationID: "acme", KeyID: "key_busy", Operation: "createEndpoint", ObjectID: fmt.Sprint(i)}
		if i == 0 {
			e.KeyID = "key_rare"
		}
		data, err := json.Marshal(e)
		must(t, err)
		_, err = b.js.PublishAsync(auditSubject("acme", auditCaller(e.KeyID), e.Operation), data)
		must(t, err)
	}
	receive(t, b.js.PublishAsyncComplete())
	for key, want := range map[string]int{"key_rare": 1, "key_busy": busy, "key_none": 0} {
		list, err := b.Audit(within(t), storage.AuditFilter{KeyID: key}, "", 2*busy)
		if err != nil || len(list) != want {
			t.Errorf("%s has %d entries, %v, want %d", key, len(list), err, want)
		}
	}
	consumers, err := b.js.Stream(within(t), auditStream)
	must(t, err)
	if n := consumers.CachedInfo().State.Consumers; n > 0 {
		t.Errorf("%d consumers stay", n)
	}
}
