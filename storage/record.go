package storage

import (
	"context"
	"time"
)

// Kind names a sort of entity. It is a token of the log's subjects.
type Kind string

// The kinds of entities, named as in the import format.
const (
	KindOrganization    Kind = "organization"
	KindUtility         Kind = "utility"
	KindDemandResponse  Kind = "demandResponse"
	KindArea            Kind = "area"
	KindKey             Kind = "key"
	KindKeyUse          Kind = "keyUse"
	KindHome            Kind = "home"
	KindSolar           Kind = "solar"
	KindRatePlan        Kind = "ratePlan"
	KindPlanEvent       Kind = "planEvent"
	KindMarketSeries    Kind = "marketSeries"
	KindMarketPrices    Kind = "marketPrices"
	KindUsage           Kind = "usage"
	KindHomeMarket      Kind = "homeMarket"
	KindHVACDevice      Kind = "hvacDevice"
	KindUserPreferences Kind = "userPreferences"
	KindOnboarding      Kind = "onboarding"
	KindWebhookEndpoint Kind = "webhookEndpoint"
	KindSchedule        Kind = "schedule"
	KindReplay          Kind = "replay"
	KindVault           Kind = "vault"
	KindSchema          Kind = "schema"
	KindFeedback        Kind = "feedback"
	KindOnce            Kind = "once"
)

// Kinds are all kinds, in the order in which an import must write them so that
// what is referred to exists first.
func Kinds() []Kind {
	return []Kind{
		KindSchema, KindVault, KindOrganization, KindKey, KindKeyUse, KindUtility, KindDemandResponse, KindArea, KindRatePlan,
		KindPlanEvent, KindMarketPrices, KindMarketSeries, KindHome, KindSolar, KindUsage, KindHomeMarket,
		KindHVACDevice, KindUserPreferences, KindOnboarding, KindWebhookEndpoint, KindSchedule, KindReplay,
		KindFeedback, KindOnce,
	}
}

// Ref names one entity: a kind, the organization it belongs to (Shared for the
// operator's own), and its identifier within that organization.
type Ref struct {
	Kind Kind
	Org  string
	ID   string
}

// Valid reports whether each part is a known kind or a valid identifier.
func (r Ref) Valid() bool { return r.Kind != "" && ValidID(r.Org) && ValidID(r.ID) }

// String is kind/organization/identifier.
func (r Ref) String() string { return string(r.Kind) + "/" + r.Org + "/" + r.ID }

// Record is one entity as the log holds it.
type Record struct {
	Ref
	// Revision is the log's sequence of the last write, from 1.
	Revision uint64
	// First is the revision at which the entity was first created. A trigger
	// walks the homes whose First is at most the revision it was accepted at.
	First uint64
	// At is when the last write was made.
	At time.Time
	// Deleted marks a tombstone; Value is then empty.
	Deleted bool
	// Value is the entity's JSON. Readers must not change it nor keep it
	// beyond the view it came from.
	Value []byte
}

// live reports whether there is such an entity now.
func (r Record) live() bool { return r.Revision > 0 && !r.Deleted }

// Write is one change asked of the log.
type Write struct {
	Ref
	// Expect is the revision that the entity must have now, 0 for none.
	Expect uint64
	// First is carried over from the record that is replaced, 0 when new.
	First   uint64
	At      time.Time
	Deleted bool
	Value   []byte
}

// MaxBatch is the most writes that one AppendBatch takes.
const MaxBatch = 1000

// Log is the log of record: durable, ordered, one last value per entity.
type Log interface {
	// Append stores one write and returns its revision once it is durable.
	// Errors: ErrConflict when Expect does not hold, ErrUnavailable when the
	// log does not answer.
	Append(ctx context.Context, w Write) (revision uint64, err error)
	// AppendBatch stores up to MaxBatch writes, all or none, and returns the
	// revision of the last once all are durable. Errors as Append.
	AppendBatch(ctx context.Context, ws []Write) (last uint64, err error)
	// Last is the revision of the newest record, 0 when the log is empty.
	Last(ctx context.Context) (uint64, error)
	// Identity tells one log from another that was made in its place.
	Identity(ctx context.Context) (string, error)
	// Tail hands every record after the given revision to apply, in order and
	// in batches, until ctx ends or apply fails.
	Tail(ctx context.Context, after uint64, apply func([]Record) error) error
}

// View is a consistent reading of the replica at one revision. It is valid only
// inside the function it was handed to.
type View interface {
	// Revision is the last revision that the view includes.
	Revision() uint64
	// Get returns the record, tombstones included. Errors: ErrNotFound.
	Get(ref Ref) (Record, error)
	// Scan hands each record of an organization whose identifier sorts after
	// the given one to fn, tombstones included, until fn returns false.
	Scan(kind Kind, org, after string, fn func(Record) bool) error
	// Count is how many live entities of a kind an organization has.
	Count(kind Kind, org string) int
	// Owner is the organization of an entity whose identifier is unique across
	// organizations (keys). Errors: ErrNotFound.
	Owner(kind Kind, id string) (org string, err error)
}

// Replica is the materialized view of the log, read locally.
type Replica interface {
	// View runs fn on a consistent reading.
	View(fn func(View) error) error
	// Revision is the last revision applied.
	Revision() uint64
	// WaitFor returns once the replica has applied the revision.
	WaitFor(ctx context.Context, revision uint64) error
}
