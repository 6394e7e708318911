package scheduler

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// unusedEvery is the interval between searches for unused entities.
const unusedEvery = 10 * time.Minute

// deleteUnused deletes the relay endpoints whose client was killed before it could delete
// them, and the keys that ended long ago.
func (s *Scheduler) deleteUnused(ctx context.Context) error {
	for _, find := range []func(storage.View, time.Time) ([]storage.Record, error){storage.UnusedRelays, storage.EndedKeys} {
		unused, err := storage.Query(s.Store, func(v storage.View) ([]storage.Record, error) { return find(v, s.Now()) })
		if err != nil {
			return err
		}
		if err := s.Store.DeleteEach(ctx, unused); err != nil {
			return err
		}
	}
	return nil
}
