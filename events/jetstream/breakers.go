package jetstream

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// breakersSubject belongs to no stream. Only current subscribers receive the reports.
const breakersSubject = "gridhook.breakers"

// PublishBreakers publishes a worker's breaker report. Errors: storage.ErrUnavailable.
func (c *Conn) PublishBreakers(r events.BreakerReport) error { return c.send(breakersSubject, r) }

// SubscribeBreakers calls take for each worker's report until stop is called. Errors:
// storage.ErrUnavailable.
func (c *Conn) SubscribeBreakers(take func(events.BreakerReport)) (stop func() error, err error) {
	sub, err := c.nc.Subscribe(c.prefix.Name(breakersSubject), func(m *nats.Msg) {
		var r events.BreakerReport
		if err := json.Unmarshal(m.Data, &r); err != nil {
			c.log.Warn("breaker report does not decode, ignored", "error", err)
			return
		}
		take(r)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: subscribe to breaker reports: %w", storage.ErrUnavailable, err)
	}
	return sub.Unsubscribe, nil
}
