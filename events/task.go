package events

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/gridhook/gridhook/storage"
)

// TaskKind is what a task is about. It is a token of subjects.
type TaskKind string

// The kinds of tasks.
const (
	// TaskSchedule is a run of a schedule.
	TaskSchedule TaskKind = "schedule"
	// TaskReplay is to take up the deliveries of a replay.
	TaskReplay TaskKind = "replay"
	// TaskRetry is to take up one delivery, by its message's identifier.
	TaskRetry TaskKind = "retry"
	// TaskNotice is to tell one endpoint of a notice, by the message's identifier.
	TaskNotice TaskKind = "notice"
)

// Task is something to be done at a time, by one of the fleet. It waits in
// JetStream, on disk, and is taken again until somebody has done it; so whoever
// does it must bear that it was done before, in part or whole.
type Task struct {
	Kind           TaskKind `json:"kind"`
	OrganizationID string   `json:"organizationId"`
	// ID and Revision name what it is about. Of tasks that agree in these and in
	// kind and organization, one waits: the last.
	ID       string       `json:"id"`
	Revision uint64       `json:"revision,omitempty"`
	DueAt    storage.Time `json:"dueAt"`
	// Body is what else the task's kind needs.
	Body json.RawMessage `json:"body,omitempty"`
}

// TaskName says which task one is, whenever it is due.
type TaskName struct {
	Kind               TaskKind
	OrganizationID, ID string
	Revision           uint64
}

// Name is the task's name.
func (t *Task) Name() TaskName { return TaskName{t.Kind, t.OrganizationID, t.ID, t.Revision} }

// String is kind.organization.id.revision.
func (n TaskName) String() string {
	return string(n.Kind) + "." + n.OrganizationID + "." + n.ID + "." + strconv.FormatUint(n.Revision, 10)
}

// Tasks is where tasks wait until they are due.
type Tasks interface {
	// PutTask has a task wait, in place of one of the same name that waits;
	// PutNewTask leaves that one as it is. Both return when it is durable.
	PutTask(ctx context.Context, t Task) error
	PutNewTask(ctx context.Context, t Task) error
	// DropTask removes a task that waits.
	DropTask(ctx context.Context, name TaskName) error
	// Tasks are the names of the tasks of a kind that wait, are due, or are
	// being done.
	Tasks(ctx context.Context, kind TaskKind) (map[TaskName]bool, error)
	// ConsumeTasks takes tasks of a kind that are due, in a number of slots, until
	// taking ends, and returns when all that were taken are handled. An error of
	// handle hands the task back.
	ConsumeTasks(ctx, taking context.Context, kind TaskKind, slots int, handle func(context.Context, Task, Taken) error) error
}
