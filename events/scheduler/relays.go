package scheduler

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// relaysEvery is the interval between searches for unused relay endpoints.
const relaysEvery = 10 * time.Minute

// deleteUnusedRelays deletes the relay endpoints whose client was killed before it could
// delete them.
func (s *Scheduler) deleteUnusedRelays(ctx context.Context) error {
	var unused []storage.Ref
	err := s.Store.View(func(v storage.View) (err error) {
		unused, err = storage.UnusedRelays(v, s.Now())
		return err
	})
	if err != nil {
		return err
	}
	return s.Store.DeleteEach(ctx, unused)
}
