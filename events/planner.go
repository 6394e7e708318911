package events

import (
	"context"
	"log/slog"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Planner stores the tasks that the entities of a kind need, for example after a crash
// between storing an entity and its task. It is for one goroutine.
type Planner struct {
	Tasks Tasks
	Store *storage.Store
	Log   *slog.Logger
	Kind  TaskKind // of the tasks and of their entities: see TaskOf

	// stale are the tasks of old revisions that the last search found.
	stale map[TaskName]bool
}

// PlannerSearch is one search for the tasks that entities need, on a view.
type PlannerSearch struct {
	storage.View
	// Clock is the time on the clock that makes tasks due. The clock of this process may be
	// wrong.
	Clock time.Time

	waiting map[TaskName]bool
	missing []Task
	late    map[TaskName]lateTask
}

// lateTask is the correction of a pending task that is due after latest.
type lateTask struct {
	Task
	latest time.Time
}

// maxDueChecks is the number of pending tasks whose due times one search reads. Each takes
// a request to NATS.
const maxDueChecks = 100

// Need asks for a task, and reports whether it is pending, due or in progress.
func (s *PlannerSearch) Need(t Task) (waiting bool) {
	if waiting = s.waiting[t.TaskName]; !waiting {
		s.missing = append(s.missing, t)
	}
	return waiting
}

// Correct replaces a pending task of the same name if it is due after latest. A process whose
// clock was ahead has stored that one.
func (s *PlannerSearch) Correct(t Task, latest time.Time) { s.late[t.TaskName] = lateTask{t, latest} }

// Search stores the tasks that find asks for. It drops the tasks of older revisions than the
// replica's at the second search, because tasks due before a change must still be done. It
// keeps tasks of newer revisions, and tasks without a revision.
func (p *Planner) Search(ctx context.Context, find func(*PlannerSearch) error) error {
	s := PlannerSearch{late: map[TaskName]lateTask{}}
	var err error
	if s.waiting, err = p.Tasks.Tasks(ctx, p.Kind); err != nil {
		return err
	}
	if s.Clock, err = p.Tasks.Clock(ctx); err != nil {
		return err
	}
	stale := map[TaskName]bool{}
	err = p.Store.View(func(v storage.View) error {
		for name := range s.waiting {
			r, err := v.Get(storage.Kind(p.Kind).Ref(name.OrganizationID, name.ID))
			if err == nil && name.Revision > 0 && r.Revision > name.Revision {
				stale[name] = true
			}
		}
		s.View = v
		return find(&s)
	})
	if err != nil {
		return err
	}
	if err := p.store(ctx, &s); err != nil {
		return err
	}
	before := p.stale
	p.stale = stale
	for name := range stale {
		if before[name] { // otherwise it may be about to be due
			if err := p.Tasks.DropTask(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// store stores the missing tasks, and corrects pending ones.
func (p *Planner) store(ctx context.Context, s *PlannerSearch) error {
	for _, t := range s.missing {
		if err := p.Tasks.PutNewTask(ctx, t); err != nil {
			return err
		}
	}
	checked := 0
	for name, t := range s.late { // in random order, so that each has its turn
		if checked++; checked > maxDueChecks {
			break
		}
		due, err := p.Tasks.TaskDue(ctx, name)
		if err == nil && due.After(t.latest) {
			p.Log.Warn("run due too late, replaced", "kind", t.Kind, "id", t.ID, "org", t.OrganizationID, "due", due, "next", t.DueAt.Time)
			err = p.Tasks.PutTask(ctx, t.Task)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
