package events

import (
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Kept is what deliveries of one endpoint that were given up were made of, so that
// they can be taken up again by hand with the same bodies, whatever has changed
// since.
type Kept struct {
	EndpointID string `json:"endpointId"`
	// Format is the messages' format.
	Format storage.SignalFormat `json:"format,omitempty"`
	// Slice is the number of the slice that the homes are of.
	Slice  int          `json:"slice"`
	Homes  []RetryHome  `json:"homes"`
	Curves []RetryCurve `json:"curves"`
}

// maxKeptRuns bounds what a receipt keeps, in the runs of its curves: some 60
// bytes each, of the megabyte that a message may have.
const maxKeptRuns = 6000

// Fits reports whether more can be kept beside what is kept already.
func (k *Kept) Fits(beside []Kept) bool {
	runs := 0
	for _, list := range [][]Kept{beside, {*k}} {
		for i := range list {
			for j := range list[i].Curves {
				runs += len(list[i].Curves[j].Runs)
			}
		}
	}
	return runs <= maxKeptRuns
}

// Of is what is kept of some of the homes, with the curves that they refer to. ok is
// false when none of them is there.
func (k *Kept) Of(wanted func(homeID string) bool) (part Kept, ok bool) {
	part.EndpointID, part.Format, part.Slice = k.EndpointID, k.Format, k.Slice
	places := map[int]int{}
	for _, h := range k.Homes {
		if !wanted(h.HomeID) || h.Curve < 0 || h.Curve >= len(k.Curves) {
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

// TakeUp makes the retry that takes the deliveries up again, with fresh attempts
// from a time on, and the receipt that says so. Whoever makes them again of the
// same makes the same.
func (k *Kept) TakeUp(t Trigger, again storage.Time, due time.Time) (Retry, Receipt) {
	t.RetriedAt = again
	r := Retry{
		Trigger: t, Sequence: t.Sequence, EndpointID: k.EndpointID, Format: k.Format, Attempt: 1, Round: 1, Slice: k.Slice,
		DueAt: storage.Time{Time: due.UTC()}, Homes: k.Homes, Curves: k.Curves,
	}
	receipt := Receipt{TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: takenUp + r.Key()}
	for _, h := range k.Homes {
		receipt.Deliveries = append(receipt.Deliveries, Delivery{
			MessageID: MessageID(t.ID, h.HomeID, k.EndpointID), HomeID: h.HomeID, EndpointID: k.EndpointID,
			Outcome: OutcomeRetrying, At: again, NextAt: r.DueAt, Reason: "taken up again by hand",
		})
	}
	return r, receipt
}

// takenUp begins the key of a receipt that says that deliveries were taken up again.
const takenUp = "again."

// Again tells the receipts of deliveries that were taken up again by hand from
// those before: it is when that was, in milliseconds since 1970, and 0 before.
func (r *Receipt) Again() int64 {
	_, ms, ok := strings.Cut(strings.TrimPrefix(r.Key, takenUp), againMark)
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(ms, 10, 64) // Key wrote it
	return n
}

// againMark stands in a key before when deliveries were taken up again. No
// identifier has a dot.
const againMark = ".again."

// again is the end of the keys of a trigger's retries.
func (t *Trigger) again() string {
	if t.RetriedAt.IsZero() {
		return ""
	}
	return againMark + strconv.FormatInt(t.RetriedAt.UnixMilli(), 10)
}
