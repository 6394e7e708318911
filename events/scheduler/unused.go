package scheduler

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// unusedEvery is the interval between searches for unused entities.
const unusedEvery = 10 * time.Minute

// deleteFound returns a function that deletes the records that find returns.
func (s *Scheduler) deleteFound(find func(storage.View, time.Time) ([]storage.Record, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		found, err := storage.Query(s.Store, func(v storage.View) ([]storage.Record, error) { return find(v, s.Now()) })
		if err != nil {
			return err
		}
		return s.Store.DeleteEach(ctx, found)
	}
}

// expireEvery is the interval between searches for expired reports.
const expireEvery = time.Hour

// expiredReports returns the reports that are older than their retention.
func (s *Scheduler) expiredReports(v storage.View, now time.Time) ([]storage.Record, error) {
	return storage.Matching(v, storage.KindOpenADRReport, func(r storage.Record) bool { return now.Sub(r.At) > s.ReportRetention })
}
