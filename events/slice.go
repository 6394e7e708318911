package events

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// SliceHomes is the number of homes in a slice. It is small enough that triggers interleave,
// all workers have a part of each walk, and a crash repeats little. WideSliceHomes is the
// number for a large organization with few endpoints. The messages of a slice then cost a
// fifth less of each delivery.
const (
	SliceHomes     = 64
	WideSliceHomes = 4 * SliceHomes

	wideFrom      = 16 * WideSliceHomes
	wideEndpoints = 4
)

// StartFrom sets the state that the walk starts from, the numbers of selected homes and of
// notified endpoints, and the size of the slices. The size never changes, so every worker finds
// the same slices.
func (t *Trigger) StartFrom(v storage.View, homes int) error {
	t.Revision, t.Homes = v.Revision(), homes
	t.Wide = v.Count(storage.KindHome, t.OrganizationID) >= wideFrom && v.Count(storage.KindWebhookEndpoint, t.OrganizationID) <= wideEndpoints
	for r, err := range storage.Live(v, storage.KindWebhookEndpoint, t.OrganizationID, "") {
		if err != nil {
			return err
		}
		e, err := storage.DecodeEndpoint(r)
		// The known signals of onChange endpoints are stored for SliceHomes homes.
		t.Wide = t.Wide && err == nil && e.DeliveryMode != storage.DeliverOnChange
		if err == nil && e.Wants(storage.EventTriggerCompleted) {
			t.Notified++
		}
	}
	return nil
}

// SliceHomes returns the number of homes in a slice of the trigger.
func (t *Trigger) SliceHomes() int {
	if t.Wide {
		return WideSliceHomes
	}
	return SliceHomes
}

// Slice is a part of a trigger's walk: the homes that sort after After, as many as
// Trigger.SliceHomes says, except homes deleted before the trigger. A worker first puts the
// next slice on the queue, so the queue holds a handful of messages per running trigger.
type Slice struct {
	Trigger Trigger `json:"trigger"`
	// Sequence is the trigger's sequence in the log.
	Sequence uint64 `json:"sequence"`
	// Number counts the trigger's slices from 0.
	Number int `json:"number"`
	// After is the last home of the previous slice, empty for the first slice.
	After string `json:"after"`
	// Through is the last home of the slice, if a next slice was put with that After. So
	// the slice ends there, even if deleted homes were forgotten meanwhile. It is empty if
	// the slice ends after its number of homes.
	Through string `json:"through,omitempty"`
	// Resumed reports whether the slice was put again because the queue had lost it. The
	// slice may be done already.
	Resumed bool `json:"resumed,omitempty"`
	// Late reports whether the walk is late: it was parked for an endpoint that was down or
	// for room in the organization's history, or the slice was lost or handed out before. A
	// newer trigger may have superseded it.
	Late bool `json:"late,omitempty"`
	// ClockLag is how far the clock of the last worker was behind the clock of NATS.
	ClockLag time.Duration `json:"clockLag,omitempty"`
	// Failures counts the failures of the slice itself.
	Failures int `json:"failures,omitempty"`
}

// Check returns an error if Trigger.Check does.
func (s *Slice) Check() error { return s.Trigger.Check() }

// Retry is the next attempt of one message, or of several homes that failed together. Its
// inputs make the same body again.
type Retry struct {
	Trigger  Trigger `json:"trigger"`
	Sequence uint64  `json:"sequence"`
	RetryInputs
	// Attempt is the number of the next attempt, from 1.
	Attempt int `json:"attempt"`
	// Round counts the postponements of the homes, from 1. It distinguishes a retry from
	// the previous retry if both have the same attempt number, as after a hand-back
	// without an attempt.
	Round int `json:"round"`
	// Failures counts the failures of the retry itself, without an attempt.
	Failures int `json:"failures,omitempty"`
	// DueAt is the time of the next attempt.
	DueAt storage.Time `json:"dueAt"`
	// Walk is the first slice of a parked walk. A retry with a Walk has no inputs.
	Walk *Slice `json:"walk,omitempty"`
}

// Check returns an error if Trigger.Check does.
func (r *Retry) Check() error {
	if r.Walk != nil {
		return r.Walk.Check()
	}
	return r.Trigger.Check()
}

// Taken describes how a message was taken from its queue.
type Taken struct {
	// Redelivered reports whether another worker may have taken the message before.
	Redelivered bool
	// Size is the size of the message, in bytes.
	Size int
	// At is when the worker took the message.
	At time.Time
	// Free lets the queue hand out another message before this message is done.
	Free func()
}

// Handler handles one message of a queue. After an error the message is redelivered.
type Handler[T any] = func(ctx context.Context, v T, taken Taken) error

// Recovered converts a panic into an error, so that one message cannot crash the worker.
func Recovered(handle func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return handle()
}

// RetryHome is one home of a retry.
type RetryHome struct {
	HomeID string `json:"homeId"`
	// Curve indexes RetryInputs.Curves.
	Curve int `json:"curve"`
	// Revision is the sequence of the signal at the first attempt.
	Revision uint64 `json:"revision"`
	// Targets are the targets that the subscriber may see.
	Targets []string `json:"targets,omitempty"`
}

// RetryCurve is a price curve in compact form. A retry carries it so that every attempt
// has the same body, whatever has changed since.
type RetryCurve struct {
	RatePlanID         string                     `json:"ratePlanId"`
	Runs               []pricing.Run              `json:"runs"`
	ExportCompensation pricing.ExportCompensation `json:"exportCompensation"`
	ImportSource       string                     `json:"importSource"`
	// Emissions is set if the format has emissions and the homes' place is known.
	Emissions []EmissionRun `json:"emissions,omitempty"`
}

// Curve returns the curve for its window.
func (c *RetryCurve) Curve(w pricing.Window) (*signals.Curve, error) {
	curve, err := pricing.CurveFromRuns(w, c.Runs, c.ExportCompensation, c.ImportSource)
	if err != nil {
		return nil, err
	}
	return signals.NewCurve(*curve, c.RatePlanID).WithEmissions(Emissions(c.Emissions)), nil
}

// Streams describes the streams of triggers and receipts.
type Streams struct {
	// Identity distinguishes them from streams recreated under the same names.
	Identity string
	// LastTrigger and LastReceipt are the last sequences.
	LastTrigger, LastReceipt uint64
	// NewestTrigger and NewestReceipt are the sequences of the newest messages that are still
	// stored, 0 without one.
	NewestTrigger, NewestReceipt uint64
	// ReceiptsSince is the time since which no receipt has expired, zero if none ever has.
	ReceiptsSince time.Time
	// Now is the time of the server's clock.
	Now time.Time
}

// Sequenced is a value with its sequence in the stream.
type Sequenced[T any] struct {
	Sequence uint64
	// Stored is when the server stored the message, by the server's clock.
	Stored time.Time
	// Size is the size of the message, in bytes. Data is its body.
	Size  int
	Data  []byte
	Value T
}
