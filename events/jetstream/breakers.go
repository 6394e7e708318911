package jetstream

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// breakersSubject is of no stream: who is not there does not hear.
const breakersSubject = "gridhook.breakers"

// TellBreakers tells whoever listens how a worker's breakers stand. Errors:
// storage.ErrUnavailable.
func (c *Conn) TellBreakers(r events.BreakerReport) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := c.nc.Publish(breakersSubject, data); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return nil
}

// HearBreakers hands over what workers tell, until stop is called. Errors:
// storage.ErrUnavailable.
func (c *Conn) HearBreakers(take func(events.BreakerReport)) (stop func() error, err error) {
	sub, err := c.nc.Subscribe(breakersSubject, func(m *nats.Msg) {
		var r events.BreakerReport
		if err := json.Unmarshal(m.Data, &r); err != nil {
			c.log.Warn("what a worker tells of its breakers does not decode", "error", err)
			return
		}
		take(r)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: hear of breakers: %w", storage.ErrUnavailable, err)
	}
	return sub.Unsubscribe, nil
}
