package replayer

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// planEvery is the interval between searches for uncompleted replays without a task.
const planEvery = 30 * time.Second

// plan stores the missing tasks of replays. It deletes replays that were completed long ago.
func (r *Replayer) plan(ctx context.Context) error {
	now := r.Store.Now()
	var old []storage.Record
	damaged := func(err error) { r.Log.Error("replay skipped, its record does not decode", "error", err) }
	err := r.planner.Search(ctx, func(search *events.PlannerSearch) error {
		return storage.Each(search, storage.KindReplay, damaged, func(replay *storage.Replay, record storage.Record) error {
			switch {
			case replay.Status != storage.ReplayCompleted:
				search.Need(events.TaskOf(replay.Ref(), 0, now))
			case now.Sub(replay.CompletedAt.Time) > storage.ReplayRetention:
				old = append(old, record)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return r.Store.DeleteEach(ctx, old)
}
