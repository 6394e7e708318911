package storage

import (
	"context"
	"time"
)

// Kind is the type of an entity. It is a token of the log's subjects.
type Kind string

// The kinds of entities, named as in the import format.
const (
	KindOrganization    Kind = "organization"
	KindUtility         Kind = "utility"
	KindDemandResponse  Kind = "demandResponse"
	KindArea            Kind = "area"
	KindKey             Kind = "key"
	KindKeyUse          Kind = "keyUse"
	KindOperatorKey     Kind = "operatorKey"
	KindHome            Kind = "home"
	KindSolar           Kind = "solar"
	KindRatePlan        Kind = "ratePlan"
	KindPlanEvent       Kind = "planEvent"
	KindMarketSeries    Kind = "marketSeries"
	KindMarketPrices    Kind = "marketPrices"
	KindUsage           Kind = "usage"
	KindMeasuredLoad    Kind = "measuredLoad"
	KindHomeMarket      Kind = "homeMarket"
	KindHVACDevice      Kind = "hvacDevice"
	KindUserPreferences Kind = "userPreferences"
	KindOnboarding      Kind = "onboarding"
	KindWebhookEndpoint Kind = "webhookEndpoint"
	KindChannel         Kind = "channel"
	KindSchedule        Kind = "schedule"
	KindReplay          Kind = "replay"
	KindSource          Kind = "source"
	KindSourceState     Kind = "sourceState"
	KindVault           Kind = "vault"
	KindSchema          Kind = "schema"
	KindErasure         Kind = "erasure"

	KindOpenADRProgram      Kind = "openadrProgram"
	KindOpenADREvent        Kind = "openadrEvent"
	KindOpenADRReport       Kind = "openadrReport"
	KindOpenADRSubscription Kind = "openadrSubscription"
	KindOpenADRVEN          Kind = "openadrVen"
	KindOpenADRResource     Kind = "openadrResource"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		KindSchema, KindErasure, KindVault, KindOrganization, KindKey, KindKeyUse, KindOperatorKey, KindUtility, KindDemandResponse, KindArea, KindRatePlan,
		KindPlanEvent, KindMarketPrices, KindMarketSeries, KindHome, KindSolar, KindUsage, KindMeasuredLoad, KindHomeMarket,
		KindHVACDevice, KindUserPreferences, KindOnboarding, KindWebhookEndpoint, KindChannel, KindSchedule, KindReplay, KindSource, KindSourceState,
		KindOpenADRProgram, KindOpenADREvent, KindOpenADRVEN, KindOpenADRResource, KindOpenADRReport,
		KindOpenADRSubscription,
	}
}

// Ref names an entity of the kind. An entity that belongs to another one, such as the usage of
// a home, has the identifier of that one.
func (k Kind) Ref(org, id string) Ref { return Ref{k, org, id} }

// Ref names one entity: its kind, its organization (Shared for the operator's entities)
// and its identifier in the organization.
type Ref struct {
	Kind Kind
	Org  string
	ID   string
}

// Valid reports whether Kind is set and both identifiers are valid.
func (r Ref) Valid() bool { return r.Kind != "" && ValidID(r.Org) && ValidID(r.ID) }

// String returns kind/organization/identifier.
func (r Ref) String() string { return string(r.Kind) + "/" + r.Org + "/" + r.ID }

// Organization returns the organization that the entity belongs to: itself, if it is one.
func (r Ref) Organization() string {
	if r.Kind == KindOrganization {
		return r.ID
	}
	return r.Org
}

// Record is one entity in the log.
type Record struct {
	Ref
	// Revision is the log's sequence number of the last write, from 1.
	Revision uint64
	// First is the revision of the entity's first creation. A trigger is accepted at a
	// revision. It walks the homes whose First is at most that revision.
	First uint64
	// At is the time of the last write.
	At time.Time
	// Deleted marks a tombstone, which has no Value. The log removes a tombstone at
	// Expires, zero for never.
	Deleted bool
	Expires time.Time
	// Value is the entity's JSON. Readers must not change it, nor use it outside the view
	// that returned it.
	Value []byte
}

// live reports whether the entity exists and is not deleted.
func (r Record) live() bool { return r.Revision > 0 && !r.Deleted }

// tombstoneSize is what a tombstone takes in the log and in a replica besides its name, in
// bytes.
const tombstoneSize = 128

// Size returns the record's share of its organization's stored records in bytes: name and
// value. A tombstone has a share too. Otherwise an organization that creates and deletes
// could fill the store.
func (r Record) Size() int64 {
	switch {
	case r.Revision == 0:
		return 0
	case r.Deleted:
		return int64(len(r.Ref.String()) + tombstoneSize)
	}
	return int64(len(r.Ref.String()) + len(r.Value))
}

// Write is one requested change of the log.
type Write struct {
	Ref
	// Expect is the revision that the entity must have now, 0 if it must not exist.
	Expect uint64
	// First is copied from the replaced record, 0 for a new entity.
	First   uint64
	At      time.Time
	Deleted bool
	// Forget has the log remove a tombstone after every replica has long seen it.
	Forget bool
	Value  []byte

	over bool // the write replaces a live record
}

// MaxBatch is the maximum number of writes in one AppendBatch.
const MaxBatch = 1000

// Log is the log of record. It is durable and ordered, and keeps the last value of each
// entity.
type Log interface {
	// AppendBatch stores up to MaxBatch writes atomically. It returns the revision of the
	// last write when all are durable. Errors: ErrConflict if an Expect does not match,
	// ErrUnavailable if the log does not answer.
	AppendBatch(ctx context.Context, ws []Write) (last uint64, err error)
	// State describes the log. Newest returns the revision of the newest record that the log
	// still has. Errors: ErrUnavailable.
	State(ctx context.Context) (LogState, error)
	Newest(ctx context.Context) (uint64, error)
	// Read returns the last record of an entity, the zero Record if there is none.
	// Errors: ErrUnavailable.
	Read(ctx context.Context, ref Ref) (Record, error)
	// Erase overwrites everything of an organization that has no age limit, the
	// organization's own record last. It returns the number of overwritten records by
	// kind, also with an error. Errors: ErrNotErasable, ErrUnavailable.
	Erase(ctx context.Context, org string) (map[Kind]int, error)
	// Tail calls apply with the records after the given revision, in order and in
	// batches, until ctx ends or apply fails.
	Tail(ctx context.Context, after uint64, apply func([]Record) error) error
}

// LogState describes the log of record.
type LogState struct {
	// Identity identifies the log. A log that replaces this log has another identity.
	Identity string
	// Last is the revision of the last write, 0 if there is none.
	Last uint64
	// WholeSince is the time since which the log has every tombstone, zero if it removes none.
	WholeSince time.Time
}

// View is a consistent snapshot of the replica at one revision. It is valid only during
// the call of the function that received it.
type View interface {
	// Revision returns the last revision that the view includes.
	Revision() uint64
	// Get returns a record, including a tombstone. Errors: ErrNotFound.
	Get(ref Ref) (Record, error)
	// Scan calls fn with each record of an organization whose identifier sorts after the
	// given identifier. It includes tombstones. It stops when fn returns false.
	Scan(kind Kind, org, after string, fn func(Record) bool) error
	// Devices is Scan for the live devices of a home.
	Devices(org, homeID, after string, fn func(Record) bool) error
	// Count returns the number of an organization's live entities of a kind.
	Count(kind Kind, org string) int
	// Deleted returns the number of an organization's tombstones of a kind.
	Deleted(kind Kind, org string) int
	// Size returns the size of an organization's records in bytes, as Record.Size says.
	Size(org string) int64
	// Owner returns the organization of an entity whose identifier is unique across
	// organizations (keys). Errors: ErrNotFound.
	Owner(kind Kind, id string) (org string, err error)
}

// Replica is the local materialized view of the log.
type Replica interface {
	// View runs fn on a consistent snapshot.
	View(fn func(View) error) error
	// Revision returns the last applied revision.
	Revision() uint64
	// WaitFor returns when the replica has applied the revision. It gives causal consistency
	// to a caller that learned of the write from another process.
	WaitFor(ctx context.Context, revision uint64) error
}
