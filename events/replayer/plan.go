package replayer

import (
	"context"
	"errors"
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
	var old []storage.Ref
	err = r.Store.View(func(v storage.View) error {
		return storage.EachOrganization(v, func(org string) error {
			var failed error
			err := v.Scan(storage.KindReplay, org, "", func(rec storage.Record) bool {
				if rec.Deleted {
					return true
				}
				var replay storage.Replay
				if replay, failed = storage.Decode[storage.Replay](rec); failed != nil {
					return false
				}
				task := Task(&replay, now)
				switch {
				case replay.Status != storage.ReplayCompleted && !waiting[task.Name()]:
					missing = append(missing, task)
				case replay.Status == storage.ReplayCompleted && now.Sub(replay.CompletedAt.Time) > storage.ReplaysKept:
					old = append(old, replay.Ref())
				}
				return true
			})
			return errors.Join(err, failed)
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
	for _, ref := range old {
		if err := r.Store.Delete(ctx, ref); err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return nil
}
