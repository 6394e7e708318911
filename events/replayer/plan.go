package replayer

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// planEvery is the interval between searches for uncompleted replays without a task.
const planEvery = 30 * time.Second

// Task returns the task of a replay.
func Task(replay *storage.Replay, now time.Time) events.Task {
	return events.Task{
		Kind: events.TaskReplay, OrganizationID: replay.OrganizationID, ID: replay.ID, DueAt: storage.Time{Time: now.UTC()},
	}
}

// plan stores the missing tasks of replays, for example after a crash between storing a
// replay and its task. It deletes replays that were completed long ago.
func (r *Replayer) plan(ctx context.Context) error {
	waiting, err := r.Tasks.Tasks(ctx, events.TaskReplay)
	if err != nil {
		return err
	}
	now := r.Store.Now()
	var missing []events.Task
	var old []storage.Record
	damaged := func(err error) { r.Log.Error("replay skipped, its record does not decode", "error", err) }
	err = r.Store.View(func(v storage.View) error {
		return storage.Each(v, storage.KindReplay, damaged, func(replay *storage.Replay, record storage.Record) error {
			task := Task(replay, now)
			switch {
			case replay.Status != storage.ReplayCompleted && !waiting[task.Name()]:
				missing = append(missing, task)
			case replay.Status == storage.ReplayCompleted && now.Sub(replay.CompletedAt.Time) > storage.ReplayRetention:
				old = append(old, record)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, task := range missing {
		if err := r.Tasks.PutNewTask(ctx, task); err != nil {
			return err
		}
	}
	return r.Store.DeleteEach(ctx, old)
}
