package webhook

import (
	"strconv"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// Message is one webhook: a trigger's signal of one home for one endpoint, or a notice.
// Its identifier and body depend only on the trigger, the home, the endpoint, the signal
// and the format. So every attempt has the same identifier and body.
type Message struct {
	Trigger    *events.Trigger
	EndpointID string
	// Signal has the home. In a notification it has the subscription instead, and no curve.
	Signal signals.Signal
	// Notice is set on a notice, which has no signal.
	Notice *events.Notice
	// Format is the endpoint's format at the creation of the message.
	Format storage.SignalFormat
	// Shown are the targets in a notification.
	Shown []string

	id string
}

// NewNotification returns the notification of a trigger's change for a callback of a
// subscription.
func NewNotification(t *events.Trigger, subscriptionID, callbackID string, shown []string) Message {
	return Message{Trigger: t, EndpointID: callbackID, Signal: signals.Signal{HomeID: subscriptionID}, Shown: shown}
}

// ID returns the webhook-id. It makes the identifier at the first call, because most messages
// beside many triggers are superseded and never need it.
func (m *Message) ID() string {
	if m.id == "" {
		m.id = events.MessageID(m.Trigger.ID, m.Signal.HomeID, m.EndpointID)
	}
	return m.id
}

// Signals reports whether the message is a price signal.
func (m *Message) Signals() bool { return m.Notice == nil && m.Trigger.Change == nil }

// NewMessage returns the message of a trigger's signal for an endpoint.
func NewMessage(t *events.Trigger, endpointID string, signal signals.Signal, format storage.SignalFormat) Message {
	return Message{Trigger: t, EndpointID: endpointID, Signal: signal, Format: format}
}

// AppendBody appends the webhook's JSON.
func (m *Message) AppendBody(dst []byte) []byte {
	if m.Notice != nil {
		return m.Notice.AppendBody(dst)
	}
	if c := m.Trigger.Change; c != nil {
		return c.AppendBody(dst, m.Shown)
	}
	return m.appendMembers(append(dst, '{'))
}

// appendItem appends the message as an item of a batch, with its identifier. A single
// message has its identifier in a header.
func (m *Message) appendItem(dst []byte) []byte {
	dst = append(dst, `{"webhookId":"`...)
	dst = append(dst, m.ID()...)
	return m.appendMembers(append(dst, `",`...))
}

// appendMembers appends the JSON after the opening brace.
func (m *Message) appendMembers(dst []byte) []byte {
	dst = append(dst, `"type":"`...)
	dst = append(dst, m.Format.SignalEvent()...)
	dst = append(dst, `","timestamp":"`...)
	dst = pricing.AppendTimestamp(dst, m.Trigger.CreatedAt.Time)
	dst = append(dst, `","data":{"triggerId":"`...)
	dst = append(dst, m.Trigger.ID...)
	dst = append(dst, `","organizationId":"`...)
	dst = append(dst, m.Trigger.OrganizationID...)
	dst = append(dst, `","sequence":`...)
	dst = strconv.AppendUint(dst, m.Trigger.Sequence, 10)
	dst = append(dst, ',')
	switch m.Format {
	case storage.FormatOpenADR3:
		dst = append(dst, `"homeId":"`...)
		dst = append(dst, m.Signal.HomeID...)
		dst = append(dst, `","events":[`...)
		dst = m.Signal.AppendOpenADR(dst, m.Trigger.CreatedAt.Time)
		dst = append(dst, ']')
	case storage.FormatThin:
		dst = m.appendThin(dst)
	default:
		dst = m.Signal.AppendFields(dst, m.Trigger.CreatedAt.Time)
	}
	return append(dst, "}}"...)
}

// appendThin appends the identity of the signal. A receiver that knows a signal with the
// same fingerprint need not read this one.
func (m *Message) appendThin(dst []byte) []byte {
	for _, member := range [][2]string{
		{`"homeId":"`, m.Signal.HomeID}, {`","ratePlanId":"`, m.Signal.RatePlanID},
		{`","startTime":"`, m.Signal.Window.Start.UTC().Format(storage.TimeLayout)},
		{`","endTime":"`, m.Signal.Window.End.UTC().Format(storage.TimeLayout)},
		{`","fingerprint":"`, m.Signal.Fingerprint(m.Format)},
		{`","path":"/v1/homes/`, m.Signal.HomeID},
	} {
		dst = append(append(dst, member[0]...), member[1]...)
	}
	return append(dst, `/price_signal"`...)
}
