package events

import (
	"maps"
	"sync"
	"time"
)

// An organization's history can outgrow its quota: the API checks the quota when it accepts
// a trigger, and the outcomes of accepted triggers follow. So that they do not fill the store
// of all organizations, parts of the organization's work wait from a multiple of the quota on.
const (
	// WalksWait is the multiple from which slices wait, and receipts have no details.
	WalksWait = 2
	// RetriesWait is the multiple, beside the waiting retries, from which retries wait, too.
	// Until then they make room.
	RetriesWait = 4
)

// HistoryReport lists the organizations whose history has outgrown its quota. Processes with
// a ledger repeat it periodically, and no stream stores it.
type HistoryReport struct {
	// Multiples are the sizes of the histories by organization, in whole multiples of the
	// quota, from WalksWait on.
	Multiples map[string]int `json:"multiples"`
}

// Histories holds the latest report of each organization. The zero value is ready to use.
type Histories struct {
	mu      sync.Mutex
	reports map[string]historySize
}

type historySize struct {
	at       time.Time
	multiple int
}

// Add stores a report received at a time. An organization that no report names for some
// seconds has room again.
func (h *Histories) Add(r HistoryReport, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reports == nil {
		h.reports = map[string]historySize{}
	}
	maps.DeleteFunc(h.reports, func(_ string, before historySize) bool { return at.Sub(before.at) > reportStands })
	for org, multiple := range r.Multiples {
		h.reports[org] = historySize{at, multiple}
	}
}

// Multiple returns the size of an organization's history in whole multiples of its quota. It
// returns 0 below WalksWait.
func (h *Histories) Multiple(org string, now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.reports[org]; now.Sub(r.at) <= reportStands {
		return r.multiple
	}
	return 0
}
