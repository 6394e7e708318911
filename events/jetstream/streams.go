package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// The streams.
const (
	stateStream    = "GRIDHOOK_STATE"
	triggersStream = "GRIDHOOK_TRIGGERS"
	workStream     = "GRIDHOOK_WORK"
	retriesStream  = "GRIDHOOK_RETRIES"
	receiptsStream = "GRIDHOOK_RECEIPTS"
	knownStream    = "GRIDHOOK_KNOWN"
)

// Options say how the streams are kept.
type Options struct {
	// Replicas of each stream: 1 alone, 3 on a cluster.
	Replicas int
	// TriggersAge and ReceiptsAge are how long triggers and receipts are kept.
	TriggersAge, ReceiptsAge time.Duration
}

// streams are the streams as data. STATE, TRIGGERS and RECEIPTS are the record:
// nothing in them can be deleted. What WORK holds can always be derived from
// them, so it alone need not pay for an fsync.
func streams(o Options) []jetstream.StreamConfig {
	work := jetstream.StreamConfig{
		Name: workStream, Subjects: []string{workSubjects},
		Description: "the slices that workers walk, one message a running trigger",
		Retention:   jetstream.WorkQueuePolicy,
	}
	if o.Replicas == 1 {
		work.PersistMode = jetstream.AsyncPersistMode
	}
	all := []jetstream.StreamConfig{
		{
			Name: stateStream, Subjects: []string{stateSubjects},
			Description:       "the log of record of organizations, homes, plans, endpoints, ...: one last value each",
			MaxMsgsPerSubject: 1, DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
		},
		{
			Name: triggersStream, Subjects: []string{triggerSubjects},
			Description: "the triggers that were accepted",
			DenyDelete:  true, DenyPurge: true, MaxAge: o.TriggersAge,
		},
		work,
		{
			Name: retriesStream, Subjects: []string{retryWaitSubjects, retryDueSubjects},
			Description: "failed deliveries waiting for their next attempt",
			Retention:   jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowRollup: true,
		},
		{
			Name: receiptsStream, Subjects: []string{receiptSubjects},
			Description: "what became of each home of each trigger",
			DenyDelete:  true, DenyPurge: true, MaxAge: o.ReceiptsAge,
		},
		{
			Name: tasksStream, Subjects: []string{taskWaitSubjects, taskDueSubjects},
			Description: "what is to be done at a time by one of the fleet: the next run of each schedule",
			Retention:   jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowRollup: true,
		},
		{
			Name: noticesStream, Subjects: []string{noticeSubjects},
			Description: "what happened that endpoints are told of beside signals: the end of a trigger, the disabling of an endpoint",
			// As long as a ledger may see a trigger come to its end.
			DenyDelete: true, DenyPurge: true, MaxAge: max(o.TriggersAge, o.ReceiptsAge),
		},
	}
	known := jetstream.StreamConfig{
		Name: knownStream, Subjects: []string{knownSubjects},
		Description:       "which signals the endpoints have that ask for changes only; what is lost is sent again",
		MaxMsgsPerSubject: 1,
	}
	if o.Replicas == 1 {
		known.PersistMode = jetstream.AsyncPersistMode
	}
	all = append(all, known)
	for i := range all {
		all[i].Replicas = o.Replicas
		all[i].Storage = jetstream.FileStorage
		all[i].Duplicates = dedupeWindow
	}
	return all
}

// Configs are the streams as they are made.
func Configs(o Options) []jetstream.StreamConfig { return streams(o) }

// Trial is a stream that asks of a server all that the others do, to find out
// whether it can be made. Its first subject can be written to.
func Trial(o Options) jetstream.StreamConfig {
	name := nuid.Next()
	return jetstream.StreamConfig{
		Name: "GRIDHOOK_TRIAL_" + name, Subjects: []string{"gridhook.trial." + name},
		Description: "a trial of gridhook doctor, which may be deleted",
		Retention:   jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowRollup: true, AllowAtomicPublish: true,
		Replicas: o.Replicas, Storage: jetstream.FileStorage, MaxAge: time.Hour,
	}
}

// dedupeWindow is how long a repeated message id is recognized.
const dedupeWindow = 2 * time.Minute

// ensureStreams makes or updates the streams.
func ensureStreams(ctx context.Context, js jetstream.JetStream, o Options) error {
	for _, cfg := range streams(o) {
		each, cancel := context.WithTimeout(ctx, setUpWait)
		_, err := js.CreateOrUpdateStream(each, cfg)
		cancel()
		if err != nil {
			return fmt.Errorf("set up the stream %s: %w", cfg.Name, explain(err))
		}
	}
	return nil
}

// explain adds what to do to the errors that an operator can mend.
func explain(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: turn JetStream on in the NATS server and for this account", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: NATS JetStream does not answer, or has no leader", err)
	}
	return err
}
