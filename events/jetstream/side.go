package jetstream

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// DeadStream is the stream of dead letters.
const DeadStream = "GRIDHOOK_DEAD"

// Limits of dead letters, requests and feedback. The number of messages and their size limit
// the bytes. MaxBytes would reserve the space, and a server whose store becomes smaller than
// its reservations refuses every change of a stream.
const (
	deadAge      = 30 * 24 * time.Hour
	mostDead     = 1000
	deadSize     = 128 << 10 // estimated
	requestsAge  = storage.IdempotencyRetention + time.Hour
	mostRequests = 100_000
	requestSize  = 32 << 10
	feedbackAge  = 365 * 24 * time.Hour
	mostFeedback = 2000
	feedbackSize = 256 << 10
	mostKnown    = 5_000_000
	knownSize    = 5 << 10 // estimated, for the homes of a slice
)

// Shares of a store that streams of temporary data may take, as divisors. Together with the
// records and the history of one organization they leave room for triggers of the others. In
// GRIDHOOK_REQUESTS the API limits each organization.
const (
	deadShare     = 128
	feedbackShare = 64
	auditShare    = 32
	knownShare    = 32
)

// fit returns how many messages of a size in bytes fit into a share of the store, at most
// most. With an unknown store it returns most.
func (o Options) fit(most, size, share int64) int64 {
	if o.Store == 0 {
		return most
	}
	return min(max(o.Store/share/size, 1), most)
}

// sideStreams returns the streams for temporary data. Such data is in neither STATE nor
// a replica.
func sideStreams(o Options) []jetstream.StreamConfig {
	audit := o.fit(mostAudit, auditEntry, auditShare)
	return []jetstream.StreamConfig{
		{
			Name: requestsStream, Subjects: []string{requestPrefix + ">"},
			Description:       "requests with an idempotency key; the oldest are removed first",
			MaxMsgsPerSubject: 1, MaxAge: o.RequestsAge, MaxMsgs: mostRequests, MaxMsgSize: requestSize,
			Discard: jetstream.DiscardOld, DenyDelete: true, DenyPurge: true,
		},
		{
			Name: feedbackStream, Subjects: []string{feedbackPrefix + ">"},
			Description: "feedback submissions; the oldest are removed first",
			MaxAge:      o.FeedbackAge, MaxMsgs: o.fit(mostFeedback, feedbackSize, feedbackShare), MaxMsgSize: feedbackSize,
			Discard: jetstream.DiscardOld, DenyPurge: true,
		},
		{
			Name: DeadStream, Subjects: []string{deadPrefix + ">"},
			Description: "messages that could not be processed, for operators; the oldest are removed first",
			MaxAge:      deadAge, MaxMsgs: o.fit(mostDead, deadSize, deadShare), Discard: jetstream.DiscardOld,
		},
		{
			Name: auditStream, Subjects: []string{auditPrefix + ">"},
			Description: "who changed what; the oldest go first",
			MaxAge:      o.AuditAge, MaxMsgs: audit, MaxMsgsPerSubject: max(audit/auditSubjects, 1), MaxMsgSize: auditSize,
			Discard: jetstream.DiscardOld, DenyDelete: true, DenyPurge: true,
		},
	}
}
