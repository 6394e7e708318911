package jetstream

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A task waits on one subject until it is due, then on another until a worker takes it.
const (
	tasksStream    = "GRIDHOOK_TASKS"
	taskWaitPrefix = "gridhook.tasks.wait."
	taskDuePrefix  = "gridhook.tasks.due."
)

func taskQueue(k events.TaskKind) queue {
	return queue{stream: tasksStream, name: "tasks-" + string(k), filter: taskDuePrefix + string(k) + ".>"}
}

// PutTask schedules a task and returns when it is durable. It replaces a pending task of
// the same name. A worker takes a task that is already due within a moment.
func (c *Conn) PutTask(ctx context.Context, t events.Task) error {
	_, err := c.publish(ctx, taskWaitPrefix+t.String(), t, c.taskSchedule(&t)...)
	return err
}

// PutNewTask is PutTask, but keeps a pending task of the same name.
func (c *Conn) PutNewTask(ctx context.Context, t events.Task) error {
	_, err := c.publishNew(ctx, taskWaitPrefix+t.String(), t, c.taskSchedule(&t)...)
	return err
}

// taskSchedule makes a task due at its time.
func (c *Conn) taskSchedule(t *events.Task) []jetstream.PublishOpt {
	target := c.prefix.Name(taskDuePrefix + t.String())
	return []jetstream.PublishOpt{jetstream.WithScheduleAt(wholeSecond(t.DueAt.Time)), jetstream.WithScheduleTarget(target)}
}

// DropTask removes a pending task. It does not remove a task that is already due.
func (c *Conn) DropTask(ctx context.Context, name events.TaskName) error {
	ctx, cancel := context.WithTimeout(ctx, c.publishWait)
	defer cancel()
	s, err := c.handle(ctx, tasksStream)
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(c.prefix.Name(taskWaitPrefix+name.String())))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return nil
}

// ConsumeTasks calls handle for due tasks of a kind. See consume.
func (c *Conn) ConsumeTasks(ctx, taking context.Context, kind events.TaskKind, slots int, handle events.Handler[events.Task]) error {
	return consume(ctx, taking, c, taskQueue(kind), slots, fromJSON[events.Task], handle)
}

// Tasks returns the names of the tasks of a kind that are pending, due or in progress.
func (c *Conn) Tasks(ctx context.Context, kind events.TaskKind) (map[events.TaskName]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTries*c.publishWait)
	defer cancel()
	s, err := c.handle(ctx, tasksStream)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	names := map[events.TaskName]bool{}
	// Pending tasks come first, so that a task that becomes due meanwhile is not missed.
	for _, prefix := range []string{taskWaitPrefix, taskDuePrefix} {
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(c.prefix.Name(prefix+string(kind)+".>")))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		for subject := range info.State.Subjects {
			name, err := parseTaskName(strings.TrimPrefix(subject, c.prefix.Name(prefix)))
			if err != nil {
				return nil, err
			}
			names[name] = true
		}
	}
	return names, nil
}

// TaskDue returns the due time of a pending task, zero if none is pending. Errors:
// storage.ErrUnavailable.
func (c *Conn) TaskDue(ctx context.Context, name events.TaskName) (time.Time, error) {
	t, _, err := lastValue[events.Task](ctx, c, tasksStream, taskWaitPrefix+name.String())
	return t.DueAt.Time, err
}

// Clock returns the time on the server's clock, which makes tasks due. Errors:
// storage.ErrUnavailable.
func (c *Conn) Clock(ctx context.Context) (time.Time, error) {
	info, err := c.streamInfo(ctx, tasksStream)
	if err != nil {
		return time.Time{}, err
	}
	return info.TimeStamp, nil
}

func parseTaskName(text string) (events.TaskName, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return events.TaskName{}, fmt.Errorf("%q is no name of a task", text)
	}
	revision, err := strconv.ParseUint(parts[3], 10, 64)
	return events.TaskName{Kind: events.TaskKind(parts[0]), OrganizationID: parts[1], ID: parts[2], Revision: revision}, err
}
