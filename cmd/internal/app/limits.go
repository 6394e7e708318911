package app

import (
	"fmt"
	"log/slog"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// maxReplays bounds the replays of an organization, including those that ended in the last
// 7 days.
const maxReplays = 10_000

// limits returns the limits of each organization. The operator's guide lists them.
func (a *App) limits() []storage.Limit {
	l := &a.Limits
	limits := []storage.Limit{
		{Kind: storage.KindHome, Max: l.MaxHomes, Setting: "max-homes"},
		{Kind: storage.KindWebhookEndpoint, Max: l.MaxEndpoints, Setting: "max-endpoints"},
		{Kind: storage.KindSchedule, Max: l.MaxSchedules, Setting: "max-schedules"},
		{Kind: storage.KindKey, Max: l.MaxKeys, Setting: "max-keys", Counts: storage.CountLive(a.store.Now)},
		{Kind: storage.KindChannel, Max: l.MaxChannels, Setting: "max-channels"},
		{Kind: storage.KindSource, Max: l.MaxSources, Setting: "max-sources"},
		{Kind: storage.KindReplay, Max: maxReplays},
	}
	for _, t := range storage.OpenADRTypes() {
		limits = append(limits, storage.Limit{Kind: t.Kind(), Max: a.OpenADR.MaxObjects, Setting: "openadr-max-objects"})
	}
	return limits
}

// Shares of the store that one organization may take, as divisors.
const (
	// HistoryShare is the share of an organization's history. Its deliveries wait from
	// events.RetriesWait times as much on, so that the others keep half of the store.
	HistoryShare = 8
	// stateShare is the share of its records.
	stateShare = 4
	// keysShare is the share of its idempotency keys of a day. The store may hold two days of
	// them.
	keysShare = 128
)

// limitToStore lowers the limits of an organization to their shares of the embedded store,
// whose size is in bytes. Otherwise one organization could fill the store, and nobody's
// triggers would be accepted.
func (a *App) limitToStore(store config.Size) {
	lower(a.Log, "max-history", &a.Limits.MaxHistory, store/HistoryShare)
	lower(a.Log, "max-state", &a.Limits.MaxState, store/stateShare)
	lower(a.Log, "max-idempotency-keys", &a.Limits.MaxIdempotencyKeys, int(store/keysShare/rest.KeyBytes))
}

// lower lowers a limit of an organization to its share. A limit of 0 stays: there is none.
func lower[T ~int | ~int64](log *slog.Logger, setting string, limit *T, share T) {
	if share > 0 && *limit > share {
		log.Info("limit lowered to its share of the store", "setting", setting, "configured", shown(*limit), "limit", shown(share))
		*limit = share
	}
}

// shown returns a limit for people.
func shown[T ~int | ~int64](limit T) string {
	if size, ok := any(limit).(config.Size); ok {
		return size.Rounded()
	}
	return fmt.Sprint(limit)
}

// quota returns the limits of an organization's triggers and records.
func (a *App) quota() events.Quota {
	return events.Quota{Waiting: a.Limits.MaxWaiting, Bytes: int64(a.Limits.MaxHistory), Stored: int64(a.Limits.MaxState)}
}
