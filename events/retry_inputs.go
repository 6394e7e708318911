package events

import (
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// RetryInputs holds the inputs of deliveries to one endpoint. A retry, also a manual one, uses
// them to make the same bodies, whatever has changed since.
type RetryInputs struct {
	EndpointID string `json:"endpointId"`
	// Format is the format of the messages.
	Format storage.SignalFormat `json:"format,omitempty"`
	// Slice is the number of the homes' slice.
	Slice int         `json:"slice"`
	Homes []RetryHome `json:"homes,omitempty"`
	// Curves are the price curves. Homes refer to them by index.
	Curves []RetryCurve `json:"curves,omitempty"`
}

// maxInputRuns limits the curves in one receipt, counted in runs of prices and emissions. A
// run has at most about 60 bytes, and a message at most a megabyte.
const maxInputRuns = 6000

// Fits reports whether a receipt that holds beside has space for k.
func (k *RetryInputs) Fits(beside []RetryInputs) bool {
	runs := 0
	for _, list := range [][]RetryInputs{beside, {*k}} {
		for i := range list {
			for j := range list[i].Curves {
				runs += len(list[i].Curves[j].Runs) + len(list[i].Curves[j].Emissions)
			}
		}
	}
	return runs <= maxInputRuns
}

// Of returns the part of k for the wanted homes, with the curves that they refer to. ok
// is false if k has none of these homes.
func (k *RetryInputs) Of(wanted func(homeID string) bool) (part RetryInputs, ok bool) {
	part.EndpointID, part.Format, part.Slice = k.EndpointID, k.Format, k.Slice
	places := map[int]int{}
	for _, h := range k.Homes {
		if !wanted(h.HomeID) || h.Curve < 0 || h.Curve >= len(k.Curves) && len(k.Curves) > 0 {
			continue
		}
		if len(k.Curves) == 0 { // a notification has no curves
			part.Homes = append(part.Homes, h)
			continue
		}
		place, known := places[h.Curve]
		if !known {
			place = len(part.Curves)
			places[h.Curve] = place
			part.Curves = append(part.Curves, k.Curves[h.Curve])
		}
		h.Curve = place
		part.Homes = append(part.Homes, h)
	}
	return part, len(part.Homes) > 0
}

// Retry returns the retry for a manual retry of the deliveries, with fresh attempts from
// due on, and the receipt that records it. Repeated calls with the same arguments return
// the same results.
func (k *RetryInputs) Retry(t Trigger, again storage.Time, due time.Time) (Retry, Receipt) {
	t.RetriedAt = again
	r := Retry{Trigger: t, Sequence: t.Sequence, RetryInputs: *k, Attempt: 1, Round: 1, DueAt: storage.Time{Time: due.UTC()}}
	receipt := Receipt{TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: manualRetry + r.Key()}
	for _, h := range k.Homes {
		receipt.Deliveries = append(receipt.Deliveries, Delivery{
			MessageID: MessageID(t.ID, h.HomeID, k.EndpointID), HomeID: h.HomeID, EndpointID: k.EndpointID,
			Outcome: OutcomeRetrying, At: again, NextAt: r.DueAt, Reason: "retried by hand",
		})
	}
	return r, receipt
}

// manualRetry begins the key of a receipt that records a manual retry.
const manualRetry = "again."

// Again returns the time of the manual retry that the receipt belongs to, in milliseconds
// since 1970. It is 0 for receipts before any manual retry.
func (r *Receipt) Again() int64 {
	_, ms, ok := strings.Cut(strings.TrimPrefix(r.Key, manualRetry), againMark)
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(ms, 10, 64) // Key wrote the number
	return n
}

// againMark precedes the time of a manual retry in a key. No identifier has a dot.
const againMark = ".again."

// again returns the suffix of the keys of a trigger's retries.
func (t *Trigger) again() string {
	if t.RetriedAt.IsZero() {
		return ""
	}
	return againMark + strconv.FormatInt(t.RetriedAt.UnixMilli(), 10)
}
