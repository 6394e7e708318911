package jetstream

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Reports are repeated messages between the processes of the fleet. They belong to no stream:
// only current subscribers receive them.
type Reports[T any] struct{ subject string }

var (
	// Breakers are the breaker reports of the workers.
	Breakers = Reports[events.BreakerReport]{"gridhook.breakers"}
	// Histories are the reports of the processes with a ledger.
	Histories = Reports[events.HistoryReport]{"gridhook.histories"}
)

// Publish publishes a report. Errors: storage.ErrUnavailable.
func (r Reports[T]) Publish(c *Conn, report T) error { return c.send(r.subject, report) }

// Subscribe calls take for each report until stop is called. Errors: storage.ErrUnavailable.
func (r Reports[T]) Subscribe(c *Conn, take func(T)) (stop func() error, err error) {
	sub, err := c.nc.Subscribe(c.prefix.Name(r.subject), func(m *nats.Msg) {
		var report T
		if err := json.Unmarshal(m.Data, &report); err != nil {
			c.log.Warn("report does not decode, ignored", "subject", m.Subject, "error", err)
			return
		}
		take(report)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: subscribe to reports: %w", storage.ErrUnavailable, err)
	}
	return sub.Unsubscribe, nil
}
