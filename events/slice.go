package events

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// SliceHomes is how many homes one slice has: large enough that a message a
// slice costs nothing, small enough that triggers interleave and that a crash
// repeats little. 16 to 64 measured alike, 256 slower at a walk's end.
const SliceHomes = 64

// Slice is a piece of a trigger's walk: the SliceHomes homes that sort after
// After, less those that had been deleted before the trigger. Whoever takes a slice first puts what follows it on the queue, so that
// the queue holds a handful of messages per running trigger.
type Slice struct {
	Trigger Trigger `json:"trigger"`
	// Sequence is the trigger's place in the log.
	Sequence uint64 `json:"sequence"`
	// Number counts the trigger's slices from 0.
	Number int `json:"number"`
	// After is the last home of the slice before, empty for the first.
	After string `json:"after"`
	// Resumed says that the slice was put again because the queue had lost it.
	// It may have been done after all.
	Resumed bool `json:"resumed,omitempty"`
	// Late says that the walk does not come in its turn: it has waited for an endpoint
	// that was down, or was lost or handed out before. A newer trigger may have taken
	// its place.
	Late bool `json:"late,omitempty"`
}

// Check refuses a slice of a trigger that Trigger.Check refuses.
func (s *Slice) Check() error { return s.Trigger.Check() }

// Retry is one message's next attempt, or that of several homes which failed
// together. It carries all it takes to make the same body again.
type Retry struct {
	Trigger    Trigger `json:"trigger"`
	Sequence   uint64  `json:"sequence"`
	EndpointID string  `json:"endpointId"`
	// Format is the messages' format, which the endpoint may have changed since.
	Format storage.SignalFormat `json:"format,omitempty"`
	// Attempt is the number of the attempt that is due, from 1.
	Attempt int `json:"attempt"`
	// Round counts how often its homes were put off, from 1. It tells a retry
	// from the one before it, which had the same attempt due when it was handed
	// back undone.
	Round int `json:"round"`
	// Slice is the number of the slice that the homes are of.
	Slice int `json:"slice"`
	// DueAt is when.
	DueAt storage.Time `json:"dueAt"`
	// Walk is the slice from which on a walk is parked. Then there are no homes
	// and no curves.
	Walk  *Slice      `json:"walk,omitempty"`
	Homes []RetryHome `json:"homes,omitempty"`
	// Curves are the price curves that the homes refer to by index.
	Curves []RetryCurve `json:"curves,omitempty"`
}

// Check refuses a retry of a trigger that Trigger.Check refuses.
func (r *Retry) Check() error {
	if r.Walk != nil {
		return r.Walk.Check()
	}
	return r.Trigger.Check()
}

// Taken is how a message was taken off its queue.
type Taken struct {
	// Redelivered says that somebody took it before.
	Redelivered bool
	// Free lets another message be taken before this one is done with.
	Free func()
}

// RetryHome is one home of a retry.
type RetryHome struct {
	HomeID string `json:"homeId"`
	// Curve indexes Retry.Curves.
	Curve int `json:"curve"`
	// Revision is the signal's sequence as first sent.
	Revision uint64 `json:"revision"`
}

// RetryCurve is a price curve in the compact form that a retry carries, so that
// every attempt has the same body whatever has changed since.
type RetryCurve struct {
	RatePlanID         string                     `json:"ratePlanId"`
	Runs               []pricing.Run              `json:"runs"`
	ExportCompensation pricing.ExportCompensation `json:"exportCompensation"`
	ImportSource       string                     `json:"importSource"`
	// Emissions are there where the format has them and the homes' place is known.
	Emissions []EmissionRun `json:"emissions,omitempty"`
}

// Sequenced is something with its place in the stream that it was read from.
type Sequenced[T any] struct {
	Sequence uint64
	Value    T
}
