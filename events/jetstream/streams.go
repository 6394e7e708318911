package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
)

// Names of the streams.
const (
	stateStream    = "GRIDHOOK_STATE"
	triggersStream = "GRIDHOOK_TRIGGERS"
	workStream     = "GRIDHOOK_WORK"
	retriesStream  = "GRIDHOOK_RETRIES"
	receiptsStream = "GRIDHOOK_RECEIPTS"
	knownStream    = "GRIDHOOK_KNOWN"
	walksStream    = "GRIDHOOK_WALKS"
)

// Retention of new streams, and the shortest of a setting.
const (
	minAge      = 25 * time.Hour
	receiptsAge = 7 * 24 * time.Hour
	triggersAge = 30 * 24 * time.Hour
)

// Retention of tombstones and of the last signals.
const (
	deletionsAge = 30 * 24 * time.Hour
	knownAge     = 30 * 24 * time.Hour // expires the signals of a deleted endpoint
)

// Options configure the streams.
type Options struct {
	// Prefix is the prefix of the streams and subjects, by default DefaultPrefix.
	Prefix Prefix
	// Domain is the JetStream domain, by default the server's. Tags select the servers
	// of a cluster that store the streams, by default the servers of the existing streams, or any server.
	Domain string
	Tags   []string
	// Replicas of each stream: 1 for a single server, 3 on a cluster. TriggersAge,
	// ReceiptsAge and AuditAge are the retention of triggers, receipts and the audit log. A
	// ledger shows a trigger for ReceiptsAge. LastOf finds it for TriggersAge. With 0,
	// existing streams stay as they are, and new streams get the default.
	Replicas                           int
	TriggersAge, ReceiptsAge, AuditAge time.Duration
	// DeletionsAge is the retention of the tombstones of deleted entities in STATE.
	// RequestsAge and FeedbackAge are the retention of requests and feedback. ErasureAge is
	// the retention of the mark of a deleted organization, by default until everything of it
	// has passed its retention. 0 selects the defaults.
	DeletionsAge, RequestsAge, FeedbackAge, ErasureAge time.Duration
	// Store is the size in bytes of the store that holds these streams alone. It lowers the
	// number of messages of temporary data. With 0 it is not known.
	Store int64
}

// Resolve fills what the options leave open with the settings of the existing streams. So a
// process with fewer settings than the others never removes their replicas or messages.
func Resolve(ctx context.Context, js jetstream.JetStream, o Options) (Options, error) {
	existing := map[string]jetstream.StreamConfig{}
	for _, name := range []string{stateStream, receiptsStream, triggersStream, auditStream} {
		err := repeatUnanswered(ctx, func(ctx context.Context) error {
			s, err := js.Stream(ctx, o.Prefix.Name(name))
			if err == nil {
				existing[name] = s.CachedInfo().Config
			}
			return err
		})
		if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return o, fmt.Errorf("read the settings of the stream %s: %w", o.Prefix.Name(name), explain(err))
		}
	}
	age := func(name string) time.Duration {
		if age := existing[name].MaxAge; age >= minAge {
			return age
		}
		return 0 // no setting of Gridhook, so the default corrects it
	}
	o.Replicas = cmp.Or(o.Replicas, existing[stateStream].Replicas)
	o.ReceiptsAge = cmp.Or(o.ReceiptsAge, age(receiptsStream))
	o.TriggersAge = cmp.Or(o.TriggersAge, age(triggersStream))
	o.AuditAge = cmp.Or(o.AuditAge, age(auditStream))
	if placed := existing[stateStream].Placement; len(o.Tags) == 0 && placed != nil {
		o.Tags = placed.Tags
	}
	return o.withDefaults(), nil
}

func (o Options) withDefaults() Options {
	o.Replicas = cmp.Or(o.Replicas, 1)
	o.ReceiptsAge = cmp.Or(o.ReceiptsAge, receiptsAge)
	o.TriggersAge = max(cmp.Or(o.TriggersAge, triggersAge), o.ReceiptsAge)
	o.DeletionsAge = cmp.Or(o.DeletionsAge, deletionsAge)
	o.RequestsAge = cmp.Or(o.RequestsAge, requestsAge)
	o.FeedbackAge = cmp.Or(o.FeedbackAge, feedbackAge)
	o.AuditAge = cmp.Or(o.AuditAge, auditAge)
	// Retries of a deleted organization make receipts for as long as a retry may wait.
	o.ErasureAge = cmp.Or(o.ErasureAge, max(o.DeletionsAge, o.TriggersAge, o.ReceiptsAge)+events.LongestRetry)
	return o
}

// Configs returns the settings of all streams. STATE, TRIGGERS and RECEIPTS are the record.
// TRIGGERS and RECEIPTS deny deletion. STATE allows it for deleted organizations, and
// FEEDBACK for operators. WORK can always be derived from the record, so WORK alone does not
// need fsync.
func Configs(o Options) []jetstream.StreamConfig {
	o = o.withDefaults()
	var derived jetstream.PersistModeType
	if o.Replicas == 1 {
		derived = jetstream.AsyncPersistMode
	}
	all := []jetstream.StreamConfig{
		{
			Name: stateStream, Subjects: []string{statePrefix + ">"},
			Description:       "log of record: the last value of each organization, home, plan, endpoint and so on",
			MaxMsgsPerSubject: 1, DenyPurge: true, AllowAtomicPublish: true, AllowMsgTTL: true,
		},
		{
			Name: triggersStream, Subjects: []string{triggerPrefix + ">"},
			Description: "accepted triggers",
			DenyDelete:  true, DenyPurge: true, MaxAge: o.TriggersAge,
		},
		{
			Name: workStream, Subjects: []string{workPrefix + ">"},
			Description: "slices of walks that workers process, one message per running trigger",
			Retention:   jetstream.WorkQueuePolicy, PersistMode: derived,
		},
		{
			Name: retriesStream, Subjects: []string{retryWaitPrefix + ">", retryDuePrefix + ">"},
			Description: "failed deliveries waiting for their next attempt",
			Retention:   jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowRollup: true,
		},
		{
			Name: receiptsStream, Subjects: []string{receiptPrefix + ">"},
			Description: "outcome of each delivery",
			DenyDelete:  true, DenyPurge: true, MaxAge: o.ReceiptsAge,
		},
		{
			Name: tasksStream, Subjects: []string{taskWaitPrefix + ">", taskDuePrefix + ">"},
			Description: "work that one process does at a given time, such as the next run of a schedule",
			Retention:   jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowRollup: true,
		},
		{
			Name: noticesStream, Subjects: []string{noticePrefix + ">"},
			Description: "events that endpoints are notified of besides signals: completed triggers, disabled endpoints",
			// A ledger may see the end of a trigger that late.
			DenyDelete: true, DenyPurge: true, MaxAge: max(o.TriggersAge, o.ReceiptsAge),
		},
	}
	all = append(all, sideStreams(o)...)
	all = append(all,
		jetstream.StreamConfig{
			Name: knownStream, Subjects: []string{knownPrefix + ">"},
			Description:       "last signals delivered to onChange endpoints; a lost signal is sent again",
			MaxMsgsPerSubject: 1, MaxAge: knownAge, MaxMsgs: o.fit(mostKnown, knownSize, knownShare), PersistMode: derived,
		},
		jetstream.StreamConfig{
			Name: walksStream, Subjects: []string{walkPrefix + ">"},
			Description:       "position of each trigger's walk; without it, superseded signals may be sent",
			MaxMsgsPerSubject: 1, MaxAge: events.LongestRetry + time.Hour, PersistMode: derived,
		},
	)
	for i := range all {
		all[i] = o.place(all[i])
		all[i].Storage = jetstream.FileStorage
		all[i].Duplicates = dedupeWindow
		if age := all[i].MaxAge; age > 0 {
			all[i].Duplicates = min(dedupeWindow, age)
		}
	}
	return all
}

// place gives a stream its names on NATS and its servers.
func (o Options) place(cfg jetstream.StreamConfig) jetstream.StreamConfig {
	cfg.Name = o.Prefix.Name(cfg.Name)
	for i, subject := range cfg.Subjects {
		cfg.Subjects[i] = o.Prefix.Name(subject)
	}
	cfg.Replicas = o.Replicas
	if len(o.Tags) > 0 {
		cfg.Placement = &jetstream.Placement{Tags: o.Tags}
	}
	return cfg
}

// Trial returns a stream that needs every server feature of Gridhook's streams. Creating
// it shows whether Gridhook's streams can be created. Its first subject accepts messages.
func Trial(o Options) jetstream.StreamConfig {
	name := nuid.Next()
	return o.place(jetstream.StreamConfig{
		Name: "GRIDHOOK_TRIAL_" + name, Subjects: []string{"gridhook.trial." + name},
		Description: "trial stream of gridhook doctor; may be deleted",
		Retention:   jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowRollup: true, AllowAtomicPublish: true, AllowMsgTTL: true,
		Storage: jetstream.FileStorage, MaxAge: time.Hour,
	})
}

// dedupeWindow is how long the server recognizes a repeated message id.
const dedupeWindow = 2 * time.Minute

// MakeStreams creates or updates the streams, many at once: each waits for the disk. It
// begins with the streams of record. If the server refuses the new settings for them, it
// deletes no stream of derived data.
func (c *Conn) MakeStreams(ctx context.Context, o Options) error {
	for _, derived := range []bool{false, true} {
		group, ctx := errgroup.WithContext(ctx)
		for _, cfg := range Configs(o) {
			if Derived(cfg.Name) == derived {
				group.Go(func() error {
					return repeatUnanswered(ctx, func(ctx context.Context) error { return c.makeStream(ctx, cfg) })
				})
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// Derived reports whether a stream has only data that can be derived again or be lost.
func Derived(name string) bool {
	return slices.ContainsFunc([]string{workStream, knownStream, walksStream}, func(s string) bool {
		return strings.HasSuffix(name, strings.TrimPrefix(s, "GRIDHOOK"))
	})
}

func (c *Conn) makeStream(ctx context.Context, cfg jetstream.StreamConfig) error {
	is, err := c.js.Stream(ctx, cfg.Name)
	if err == nil {
		err = c.adapt(ctx, &cfg, is.CachedInfo())
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("set up the stream %s: %w", cfg.Name, explain(err))
	}
	if _, err := c.js.CreateOrUpdateStream(ctx, cfg); err != nil {
		return fmt.Errorf("set up the stream %s: %w", cfg.Name, explain(err))
	}
	if is == nil {
		return nil
	}
	if before := is.CachedInfo().Config; cfg.Replicas != before.Replicas || cfg.MaxAge != before.MaxAge {
		c.log.Warn("settings of a stream changed", "stream", cfg.Name, "replicas", cfg.Replicas, "replicas_before", before.Replicas,
			"retention", cfg.MaxAge.String(), "retention_before", before.MaxAge.String())
	}
	return nil
}

// adapt prepares a stream's new settings for an update from its existing settings. Some of
// these cannot change. A stream of derived data that would need it is deleted and made again:
// a server refuses the fast form of persistence for a stream with replicas.
// A smaller share of the store deletes no message.
func (c *Conn) adapt(ctx context.Context, cfg *jetstream.StreamConfig, info *jetstream.StreamInfo) error {
	existing, stored := info.Config, int64(info.State.Msgs) //nolint:gosec // far fewer
	if cfg.MaxMsgs > 0 && cfg.MaxMsgs < stored && c.options.Store > 0 {
		c.log.Warn("stream has more than its share of the store, keeping its messages", "stream", cfg.Name, "messages", stored, "share", cfg.MaxMsgs)
		cfg.MaxMsgs = stored
	}
	if cfg.MaxMsgsPerSubject < existing.MaxMsgsPerSubject {
		most, err := c.largestSubject(ctx, cfg.Name)
		if err != nil {
			return err
		}
		cfg.MaxMsgsPerSubject = max(cfg.MaxMsgsPerSubject, most)
	}
	if c.keepReplicas {
		cfg.Replicas = existing.Replicas // another process may be raising them now
	}
	cfg.DenyDelete = cfg.DenyDelete || existing.DenyDelete
	if existing.PersistMode == jetstream.AsyncPersistMode && cfg.Replicas > 1 && Derived(cfg.Name) {
		return c.js.DeleteStream(ctx, cfg.Name)
	}
	cfg.PersistMode = existing.PersistMode
	return nil
}

// largestSubject returns how many messages the subject with the most has.
func (c *Conn) largestSubject(ctx context.Context, stream string) (most int64, err error) {
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return 0, err
	}
	for _, n := range info.State.Subjects {
		most = max(most, int64(n)) //nolint:gosec // far fewer
	}
	return most, nil
}

// explain adds advice to errors that an operator can fix.
func explain(err error) error {
	const noReplicas = 10074 // JSStreamReplicasNotSupportedErr of nats-server
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: turn JetStream on in the NATS server and for this account", err)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("%w: turn JetStream on in the NATS server, or correct nats-domain", err)
	case errors.As(err, &api) && api.ErrorCode == noReplicas:
		return fmt.Errorf("%w: add NATS servers to the cluster, or lower nats-replicas", err)
	case errors.As(err, &api) && strings.Contains(api.Description, syscall.ENOSPC.Error()):
		return fmt.Errorf("%w: free disk space and start again", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: NATS JetStream does not respond, or has no leader", err)
	}
	return err
}
