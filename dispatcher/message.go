package dispatcher

import (
	"strconv"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// message is one webhook: a trigger's signal of one home for one endpoint. Its
// identifier and body are functions of the trigger, the home, the endpoint, the
// signal and the format alone, so that every attempt has the same.
type message struct {
	id      string
	trigger *events.Trigger
	signal  signals.Signal
	// notice is set where it is one, and then there is no signal.
	notice *events.Notice
	// format is what the endpoint asked for when the message was made.
	format storage.SignalFormat
}

func newMessage(t *events.Trigger, endpointID string, signal signals.Signal) message {
	return message{id: events.MessageID(t.ID, signal.HomeID, endpointID), trigger: t, signal: signal}
}

// appendBody appends the webhook's JSON.
func (m *message) appendBody(dst []byte) []byte {
	if m.notice != nil {
		return m.notice.AppendBody(dst)
	}
	return m.appendRest(append(dst, '{'))
}

// appendItem appends the same as one of a batch: with its identifier, which is no
// header there.
func (m *message) appendItem(dst []byte) []byte {
	dst = append(dst, `{"webhookId":"`...)
	dst = append(dst, m.id...)
	return m.appendRest(append(dst, `",`...))
}

// appendRest appends the JSON after the opening brace.
func (m *message) appendRest(dst []byte) []byte {
	dst = append(dst, `"type":"`+storage.EventPriceSignalUpdated+`","timestamp":"`...)
	dst = m.trigger.CreatedAt.UTC().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","data":{"triggerId":"`...)
	dst = append(dst, m.trigger.ID...)
	dst = append(dst, `","organizationId":"`...)
	dst = append(dst, m.trigger.OrganizationID...)
	dst = append(dst, `","sequence":`...)
	dst = strconv.AppendUint(dst, m.trigger.Sequence, 10)
	dst = append(dst, ',')
	if m.format != storage.FormatOpenADR3 {
		dst = m.signal.AppendFields(dst, m.trigger.CreatedAt.Time)
		return append(dst, "}}"...)
	}
	dst = append(dst, `"homeId":"`...)
	dst = append(dst, m.signal.HomeID...)
	dst = append(dst, `","events":[`...)
	dst = m.signal.AppendOpenADR(dst, m.trigger.CreatedAt.Time)
	return append(dst, "]}}"...)
}
