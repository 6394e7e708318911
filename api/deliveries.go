package api

import (
	"context"
	"regexp"
	"slices"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// listDeliveriesInput asks what became of homes. What is left out asks for all.
type listDeliveriesInput struct {
	TriggerID  string `json:"triggerId"`
	HomeID     string `json:"homeId"`
	EndpointID string `json:"endpointId"`
	// Outcome is by default every one.
	Outcome events.Outcome `json:"outcome"`
	// Since and Until bound when the latest attempt was made: from the first, and
	// before the second.
	Since storage.Time `json:"since"`
	Until storage.Time `json:"until"`
	// Limit is the most that is wanted, by default 100.
	Limit int `json:"limit"`
	// After is the next of the page before.
	After string `json:"after"`
}

func (in *listDeliveriesInput) setDefaults() { in.Limit = defaultPage }

// deliveryCursor is the form of a cursor; whether it leads somewhere is the ledger's
// to say.
var deliveryCursor = regexp.MustCompile(`^([A-Za-z0-9_-]{1,128}\.[0-9]{1,9}\.[0-9]{1,9})?$`)

func (in *listDeliveriesInput) check(_ *server, _ *call, p *problems) {
	for _, given := range []struct{ field, id string }{{"triggerId", in.TriggerID}, {"homeId", in.HomeID}, {"endpointId", in.EndpointID}} {
		if given.id != "" {
			checkID(p, given.field, given.id)
		}
	}
	p.Check(in.Outcome == "" || slices.Contains(events.Outcomes(), in.Outcome), "outcome", "must be one of %s", oneOf(events.Outcomes()))
	p.Check(in.Since.IsZero() || in.Until.IsZero() || in.Until.After(in.Since.Time), "until", "must be after since")
	checkLimit(p, in.Limit)
	p.Check(deliveryCursor.MatchString(in.After), "after", "must be the next of an earlier page")
}

func (in *listDeliveriesInput) query() events.DeliveryQuery {
	q := events.DeliveryQuery{
		TriggerID: in.TriggerID, HomeID: in.HomeID, EndpointID: in.EndpointID,
		Since: in.Since.Time, Until: in.Until.Time, After: in.After, Limit: in.Limit,
	}
	if in.Outcome != "" {
		q.Outcomes = []events.Outcome{in.Outcome}
	}
	return q
}

func (s *server) listDeliveries(_ context.Context, c *call, in *listDeliveriesInput) (Page[events.Delivery], error) {
	data, next, err := s.Ledger.Deliveries(c.org, in.query())
	page := Page[events.Delivery]{Data: data}
	if next != "" {
		page.Next = &next
	}
	return page, err
}

func (s *server) getDelivery(_ context.Context, c *call, _ *struct{}) (events.DeliveryLog, error) {
	return s.Ledger.Delivery(c.org, c.id)
}
