package signals_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestSignal_GoldenBytes checks the exact bytes of a signal. Gridhook signs them and
// receivers compare them, so they must not change.
func TestSignal_GoldenBytes(t *testing.T) {
	s := newStore()
	p := &storage.RatePlan{ID: "plan", Tariff: catalog.Plans()[0].URDB, Base: org}
	solar := storage.SolarSettings{ApplicationDate: "2026-05-01"} // the vintage of the plan's export values
	storagetest.Put(t, s, p, home("home_1", "plan", inChicago), &storage.Solar{HomeID: "home_1", SizeKw: 8, NonNetMetered: true, SolarSettings: solar, Base: org})
	got := signal(t, signals.NewPricer(10), s, "home_1")
	at := time.Date(2026, time.July, 1, 10, 7, 33, 0, time.UTC)
	for name, encoded := range map[string][]byte{"signal.json": got.Append(nil, at), "event.json": got.AppendOpenADR(nil, at)} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if want = bytes.TrimSpace(want); !bytes.Equal(encoded, want) {
			t.Errorf("%s is\n%s\nwant\n%s", name, encoded, want)
		}
	}
}
