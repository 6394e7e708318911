package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

type listDeliveriesInput struct{ wire.ListDeliveriesInput }

func (in *listDeliveriesInput) check(c *rest.Call) {
	c.Wrong.Check(in.Since == nil || in.Until == nil || in.Until.After(in.Since.Time), "until", "must be after since")
}

func (s *server) listDeliveries(ctx context.Context, c *rest.Call, in *listDeliveriesInput) (wire.Page[events.Delivery], error) {
	q := events.DeliveryQuery{
		Events: in.Events, TriggerID: in.TriggerID, HomeID: in.HomeID, EndpointID: in.EndpointID,
		Since: valueOr(in.Since, storage.Time{}).Time, Until: valueOr(in.Until, storage.Time{}).Time,
		After: in.After, Limit: in.Limit,
	}
	if in.Outcome != "" {
		q.Outcomes = []events.Outcome{in.Outcome}
	}
	page, next := wire.Page[events.Delivery]{}, ""
	err := s.rest.InTurn(ctx, c, func() (err error) {
		page.Data, next, err = s.Ledger.Deliveries(c.Org, q)
		return err
	})
	if next != "" {
		page.Next = &next
	}
	return page, storage.NotFound(err, storage.Ref{Kind: "trigger", Org: c.Org, ID: in.TriggerID})
}

func (s *server) deliveryHistory(ctx context.Context, c *rest.Call, _ *struct{}) (h wire.DeliveryHistory, err error) {
	err = s.rest.InTurn(ctx, c, func() (err error) {
		h.Hours, err = s.Ledger.History(ctx, rest.UnlessShared(c.Org), c.Now)
		return err
	})
	return h, err
}

func (s *server) getDelivery(ctx context.Context, c *rest.Call, _ *struct{}) (log events.DeliveryLog, err error) {
	err = s.rest.InTurn(ctx, c, func() (err error) {
		log, err = s.Ledger.Delivery(c.Org, c.ID)
		return err
	})
	return log, storage.NotFound(err, storage.Ref{Kind: rest.KindDelivery, Org: c.Org, ID: c.ID})
}
