package app

import (
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// oneRecord is a view of one record.
type oneRecord struct {
	storage.View
	record storage.Record
}

func (v oneRecord) Scan(_ storage.Kind, _, _ string, use func(storage.Record) bool) error {
	use(v.record)
	return nil
}

// TestStanding_Wanted: a scrape decodes a record that it has not seen at its revision,
// and no other. One that does not decode tells the two apart.
func TestStanding_Wanted(t *testing.T) {
	record := storage.Record{Ref: storage.WebhookEndpointRef("acme", "ep_1"), Revision: 1, Value: []byte(`{"enabled":true}`)}
	s := &standing{}
	scrape := func() (bool, error) {
		seen := map[storage.Ref]wanting{}
		wanted, err := s.wanted(oneRecord{record: record}, "acme", seen)
		s.endpoints = seen
		return wanted, err
	}
	if wanted, err := scrape(); !wanted || err != nil {
		t.Fatalf("an enabled endpoint: %t, %v", wanted, err)
	}
	record.Value = []byte("{")
	if wanted, err := scrape(); !wanted || err != nil {
		t.Errorf("the same revision is decoded again: %t, %v", wanted, err)
	}
	record.Revision = 2
	if _, err := scrape(); err == nil {
		t.Error("a new revision is not decoded")
	}
	record.Deleted, record.Revision = true, 3
	if wanted, err := scrape(); wanted || err != nil || len(s.endpoints) != 0 {
		t.Errorf("a deleted endpoint: %t, %v, %d kept", wanted, err, len(s.endpoints))
	}
}
