package events

import (
	"testing"
	"time"
)

func TestHistories_Multiple(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var h Histories
	wants := func(org string, after time.Duration, want int) {
		t.Helper()
		if got := h.Multiple(org, noon.Add(after)); got != want {
			t.Errorf("%s after %s: %d, want %d", org, after, got, want)
		}
	}
	wants("acme", 0, 0)
	h.Add(HistoryReport{Multiples: map[string]int{"acme": 2, "bolt": 5}}, noon)
	wants("acme", reportStands, 2)
	wants("other", 0, 0)
	h.Add(HistoryReport{Multiples: map[string]int{"acme": 3}}, noon.Add(ReportEvery)) // of another process
	wants("acme", ReportEvery, 3)
	wants("bolt", ReportEvery, 5)
	wants("bolt", reportStands+1, 0)
	h.Add(HistoryReport{}, noon.Add(time.Hour))
	if len(h.reports) != 0 {
		t.Errorf("%d old reports are kept", len(h.reports))
	}
}
