package jetstream

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func newTask(id string, revision uint64, due time.Time) events.Task {
	return events.Task{
		TaskName: events.TaskName{Kind: events.TaskSchedule, OrganizationID: "org", ID: id, Revision: revision},
		DueAt:    storage.Time{Time: due.UTC().Truncate(time.Millisecond)}, Body: json.RawMessage(`{"a":1}`),
	}
}

func takeTasks(t *testing.T, b *bus, got chan<- events.Task) (stop func()) {
	t.Helper()
	return consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeTasks(ctx, taking, events.TaskSchedule, 2, func(_ contextT, task events.Task, _ events.Taken) error {
			got <- task
			return nil
		})
	})
}

// waiting checks which tasks wait, are due or are being handled.
func waiting(t *testing.T, b *bus, want ...events.Task) {
	t.Helper()
	names := map[events.TaskName]bool{}
	for i := range want {
		names[want[i].TaskName] = true
	}
	if got, err := b.Tasks(within(t), events.TaskSchedule); err != nil || !reflect.DeepEqual(got, names) {
		t.Errorf("tasks are %v, %v, want %v", got, err, names)
	}
}

func TestTasks_Due(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	overdue, later := newTask("a", 1, noon), newTask("b", 1, time.Now().Add(time.Hour))
	must(t, b.PutTask(within(t), overdue))
	must(t, b.PutTask(within(t), later))
	waiting(t, b, overdue, later)
	for task, want := range map[string]time.Time{"b": later.DueAt.Time, "none": {}} {
		name := later.TaskName
		name.ID = task
		if due, err := b.TaskDue(within(t), name); err != nil || !due.Equal(want) {
			t.Errorf("task %s is due at %s, %v, want %s", task, due, err, want)
		}
	}
	if clock, err := b.Clock(within(t)); err != nil || time.Since(clock).Abs() > time.Minute {
		t.Errorf("the server's clock is %s, %v", clock, err)
	}
	got := make(chan events.Task, 9)
	stop := takeTasks(t, b, got)
	if task := receive(t, got); !reflect.DeepEqual(task, overdue) {
		t.Errorf("got %+v, want %+v", task, overdue)
	}
	stop()
	waiting(t, b, later)

	// PutTask replaces the task, PutNewTask does not.
	other := newTask("b", 1, noon)
	must(t, b.PutNewTask(within(t), other))
	stop = takeTasks(t, b, got)
	sooner := newTask("b", 1, time.Now())
	sooner.Body = json.RawMessage(`{"a":2}`)
	must(t, b.PutTask(within(t), sooner))
	if task := receive(t, got); !reflect.DeepEqual(task, sooner) {
		t.Errorf("got %+v, want %+v", task, sooner)
	}
	stop()
	waiting(t, b)
	must(t, b.PutNewTask(within(t), later))
	waiting(t, b, later)
	another := newTask("b", 2, noon)
	must(t, b.DropTask(within(t), another.TaskName))
	waiting(t, b, later)
	must(t, b.DropTask(within(t), later.TaskName))
	waiting(t, b)
	if len(got) > 0 {
		t.Errorf("got the replaced task %+v", <-got)
	}
}

// One of two consumers gets a task. A failed task is redelivered.
func TestTasks_UntilDone(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	got := make(chan events.Task, 9)
	tries := 0
	stop := consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeTasks(ctx, taking, events.TaskSchedule, 1, func(_ contextT, task events.Task, taken events.Taken) error {
			if tries++; tries == 1 {
				return errors.New("not now")
			}
			if !taken.Redelivered {
				t.Error("second delivery does not count as redelivered")
			}
			got <- task
			return nil
		})
	})
	must(t, b.PutTask(within(t), newTask("a", 1, noon)))
	receive(t, got)
	stop()
	waiting(t, b)
	if tries != 2 {
		t.Errorf("task was handled %d times", tries)
	}
}

// Waiting tasks survive a restart of the server. A task that became due meanwhile is
// delivered.
func TestTasks_Restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(t, dir)
	soon, later := newTask("a", 1, time.Now()), newTask("b", 1, time.Now().Add(time.Hour))
	must(t, b.PutTask(within(t), soon))
	must(t, b.PutTask(within(t), later))
	b.stop()
	b = newBus(t, dir)
	waiting(t, b, soon, later)
	got := make(chan events.Task, 9)
	stop := takeTasks(t, b, got)
	if came := receive(t, got); came.ID != soon.ID {
		t.Errorf("got %+v, want %+v", came, soon)
	}
	stop()
	waiting(t, b, later)
}
