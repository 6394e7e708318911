package jetstream

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// The subjects of reports belong to no stream. Only current subscribers receive the reports.
const (
	breakersSubject  = "gridhook.breakers"
	historiesSubject = "gridhook.histories"
)

// PublishBreakers publishes a worker's breaker report. Errors: storage.ErrUnavailable.
func (c *Conn) PublishBreakers(r events.BreakerReport) error { return c.send(breakersSubject, r) }

// SubscribeBreakers calls take for each worker's report until stop is called. Errors:
// storage.ErrUnavailable.
func (c *Conn) SubscribeBreakers(take func(events.BreakerReport)) (stop func() error, err error) {
	return subscribe(c, breakersSubject, take)
}

// PublishHistories publishes the report of a process with a ledger. Errors:
// storage.ErrUnavailable.
func (c *Conn) PublishHistories(r events.HistoryReport) error { return c.send(historiesSubject, r) }

// SubscribeHistories calls take for each such report until stop is called. Errors:
// storage.ErrUnavailable.
func (c *Conn) SubscribeHistories(take func(events.HistoryReport)) (stop func() error, err error) {
	return subscribe(c, historiesSubject, take)
}

func subscribe[T any](c *Conn, subject string, take func(T)) (stop func() error, err error) {
	sub, err := c.nc.Subscribe(c.prefix.Name(subject), func(m *nats.Msg) {
		var r T
		if err := json.Unmarshal(m.Data, &r); err != nil {
			c.log.Warn("report does not decode, ignored", "subject", m.Subject, "error", err)
			return
		}
		take(r)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: subscribe to reports: %w", storage.ErrUnavailable, err)
	}
	return sub.Unsubscribe, nil
}
