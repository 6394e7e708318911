package dispatcher

import (
	"context"
	"slices"
	"time"

	"github.com/gridhook/gridhook/events"
)

// PutNotice puts a notice, as a notifier does.
func (b *fakeBus) PutNotice(_ context.Context, n events.Notice) (fresh bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if fresh = !b.stored["notice "+n.ID]; fresh {
		b.stored["notice "+n.ID] = true
		b.notices = append(b.notices, &queued[events.Notice]{value: copied(b, n), key: n.ID})
		b.everTold = append(b.everTold, n)
		b.wakeLocked()
	}
	return fresh, nil
}

func (c *busConn) PutTask(ctx context.Context, t events.Task) error {
	return c.putTask(ctx, t, func(tasks []*queued[events.Task], i int, m *queued[events.Task]) { tasks[i] = m })
}

func (c *busConn) PutNewTask(ctx context.Context, t events.Task) error {
	return c.putTask(ctx, t, func([]*queued[events.Task], int, *queued[events.Task]) {})
}

func (c *busConn) putTask(ctx context.Context, t events.Task, again func([]*queued[events.Task], int, *queued[events.Task])) error {
	return c.do(ctx, "put task", func(b *fakeBus) {
		t = copied(b, t)
		m := &queued[events.Task]{value: t, key: t.String(), readyAt: t.DueAt.Time}
		waits := func(o *queued[events.Task]) bool { return o.key == m.key && o.deliveries == 0 }
		tasks := b.tasksOf(t.Kind)
		if i := slices.IndexFunc(*tasks, waits); i >= 0 {
			again(*tasks, i, m)
			return
		}
		if due := m.readyAt.Truncate(time.Second); due.Before(m.readyAt) {
			m.readyAt = due.Add(time.Second)
		}
		*tasks = append(*tasks, m)
	})
}

func (c *busConn) ConsumeNotices(ctx, taking context.Context, slots int, handle func(context.Context, events.Notice, events.Taken) error) error {
	return consume(ctx, taking, c, slots, "notice", func(b *fakeBus) *[]*queued[events.Notice] { return &b.notices }, handle)
}

func (c *busConn) ConsumeTasks(ctx, taking context.Context, kind events.TaskKind, slots int, handle func(context.Context, events.Task, events.Taken) error) error {
	return consume(ctx, taking, c, slots, "task", func(b *fakeBus) *[]*queued[events.Task] { return b.tasksOf(kind) }, handle)
}

// tasksOf returns the queue of a kind of tasks.
func (b *fakeBus) tasksOf(kind events.TaskKind) *[]*queued[events.Task] {
	if kind == events.TaskChannel {
		return &b.messages
	}
	return &b.tasks
}
