package api

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// errNoMessage is the problem of a delivery whose body cannot be made again.
var errNoMessage = rest.NewProblem(rest.CodeConflict,
	"The body of the delivery is not stored and cannot be made again: the endpoint or the home was deleted, or the home cannot be priced now.",
	"Get the delivery for its attempts.")

// deliveryRequest makes the request of a delivery again: of the inputs that are stored
// with it, or else of the home's inputs of today.
func (s *server) deliveryRequest(ctx context.Context, c *rest.Call, _ *struct{}) (out wire.DeliveryRequest, err error) {
	log, err := s.getDelivery(ctx, c, nil)
	switch {
	case err != nil:
		return out, err
	case log.EventType != "":
		return out, errEvent
	case strings.HasPrefix(log.EndpointID, storage.SubscriptionPrefix):
		return out, errNoMessage
	}
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.KindWebhookEndpoint.Ref(c.Org, log.EndpointID))
	if err != nil {
		return out, withoutMessage(err)
	}
	t, stored, err := s.Ledger.RetryInputs(c.Org, log.TriggerID, []events.Delivery{log.Delivery})
	if err != nil {
		return out, err
	}
	signal, format := signals.Signal{}, e.Format
	if len(stored) > 0 && len(stored[0].Curves) > 0 {
		k := &stored[0]
		out.Source, format = wire.BodyStored, k.Format
		signal.HomeID, signal.Revision = k.Homes[0].HomeID, k.Homes[0].Revision
		signal.Curve, err = k.Curves[0].Curve(t.Window())
	} else {
		signal, err = storage.Query(s.Store, func(v storage.View) (signals.Signal, error) {
			return s.Pricer.HomeSignal(v, c.Org, log.HomeID, t.Window())
		})
		out.Source = wire.BodyRebuilt
		if signal.Revision > t.Revision || e.UpdatedAt.After(t.CreatedAt.Time) {
			out.Source = wire.BodyChanged
		}
	}
	if err != nil {
		return out, withoutMessage(err)
	}
	body, signed, err := s.Tester.Message(e, &t, signal, format)
	if err != nil {
		return out, err
	}
	out.ID, out.URL, out.Body = c.ID, storage.MaskURL(e.URL), string(body)
	// Only a caller who may make Gridhook send webhooks gets a signature of now, which a
	// receiver accepts.
	sign := c.Operator && c.Role.Includes(storage.RoleOperate) || !c.Operator && c.Key.Allows(storage.ScopeTrigger)
	out.Headers = shownHeaders(&e, signed, sign)
	return out, nil
}

// withoutMessage replaces the errors of a missing endpoint or home and of a home without
// a price.
func withoutMessage(err error) error {
	if _, unpriceable := errors.AsType[*signals.Unpriceable](err); unpriceable || errors.Is(err, storage.ErrNotFound) {
		return errNoMessage
	}
	return err
}

// shownHeaders returns the headers of a request. It masks the values that the partner
// gave.
func shownHeaders(e *storage.WebhookEndpoint, signed map[string]string, sign bool) map[string]string {
	shown := map[string]string{"Content-Type": "application/json", "User-Agent": events.UserAgent}
	maps.Copy(shown, wire.MaskedHeaders(e))
	if e.Authentication != nil {
		shown["Authorization"] = storage.Masked
	}
	for name, value := range signed {
		if sign || name == "Webhook-Id" {
			shown[name] = value
		}
	}
	return shown
}
