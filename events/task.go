package events

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// TaskKind is the kind of a task. Subjects contain it as a token.
type TaskKind string

// Kinds of tasks.
const (
	// TaskSchedule makes a run of a schedule.
	TaskSchedule TaskKind = "schedule"
	// TaskReplay retries the deliveries of a replay.
	TaskReplay TaskKind = "replay"
	// TaskRetry retries one delivery, by its message's identifier.
	TaskRetry TaskKind = "retry"
	// TaskNotice notifies one endpoint of a notice, by the message's identifier.
	TaskNotice TaskKind = "notice"
	// TaskChannel notifies one notification channel of a notice, by the message's
	// identifier.
	TaskChannel TaskKind = "channel"
	// TaskSource makes a run of a source.
	TaskSource TaskKind = "source"
)

// Task is work for one process of the fleet at a given time. It waits on disk in
// JetStream and is redelivered until a process completes it. So its handler must allow
// for an earlier run, partial or complete.
type Task struct {
	TaskName
	DueAt storage.Time `json:"dueAt"`
	// Body is additional data of the task's kind.
	Body json.RawMessage `json:"body,omitempty"`
}

// TaskName identifies a task, whatever its due time. A new task replaces a pending task of the
// same name. ID and Revision identify the subject of the task.
type TaskName struct {
	Kind           TaskKind `json:"kind"`
	OrganizationID string   `json:"organizationId"`
	ID             string   `json:"id"`
	Revision       uint64   `json:"revision,omitempty"`
}

// String returns kind.organization.id.revision.
func (n TaskName) String() string {
	return string(n.Kind) + "." + n.OrganizationID + "." + n.ID + "." + strconv.FormatUint(n.Revision, 10)
}

// TaskOf returns the task of an entity at a time, whose kind is the kind of the entity. Each
// revision of a schedule or a source has its own chain of runs. So a change takes effect with
// the next run. A worker with a run of an older revision cannot undo the change. The revision
// is 0 for an entity whose task goes on after a change.
func TaskOf(entity storage.Ref, revision uint64, due time.Time) Task {
	return Task{
		TaskName: TaskName{TaskKind(entity.Kind), entity.Org, entity.ID, revision},
		DueAt:    storage.Time{Time: due.UTC().Truncate(time.Millisecond)},
	}
}

// Tasks stores tasks until they are due.
type Tasks interface {
	// PutTask schedules a task and replaces a pending task of the same name. PutNewTask
	// keeps a pending task of the same name. Both return when the task is durable.
	PutTask(ctx context.Context, t Task) error
	PutNewTask(ctx context.Context, t Task) error
	// DropTask removes a pending task.
	DropTask(ctx context.Context, name TaskName) error
	// Tasks returns the names of the tasks of a kind that are pending, due or in
	// progress.
	Tasks(ctx context.Context, kind TaskKind) (map[TaskName]bool, error)
	// TaskDue returns the due time of a pending task, zero if none is pending.
	TaskDue(ctx context.Context, name TaskName) (time.Time, error)
	// Clock returns the time on the clock that makes tasks due. All processes share it.
	Clock(ctx context.Context) (time.Time, error)
	// ConsumeTasks calls handle for due tasks of a kind, in a number of slots, until
	// taking ends. It returns when all handlers have returned. A task whose handler
	// returns an error is redelivered.
	ConsumeTasks(ctx, taking context.Context, kind TaskKind, slots int, handle Handler[Task]) error
}

// ClockTolerance is how much the clocks of two processes may differ.
const ClockTolerance = 10 * time.Minute
