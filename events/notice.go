package events

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Notice is an event other than a price signal that an organization's endpoints and
// notification channels are notified of. Unlike a signal, a newer notice does not
// supersede it.
type Notice struct {
	// ID is a function of the event, so that repeated notices have the same ID.
	ID             string `json:"id"`
	Type           string `json:"type"`
	OrganizationID string `json:"organizationId"`
	// About is the endpoint that the notice is about, empty if there is none. That
	// endpoint does not receive the notice.
	About string `json:"about,omitempty"`
	// CreatedAt is the time of the event.
	CreatedAt storage.Time `json:"createdAt"`
	// Traceparent is the trace context of the event's cause, empty without a trace. The
	// body of a webhook does not contain it.
	Traceparent Traceparent `json:"traceparent,omitempty"`
	// Data is the data of the webhook, null if the notice is for people alone.
	Data json.RawMessage `json:"data"`
	// Message is the notice in words for people, nil if it is for endpoints alone.
	Message *Message `json:"message,omitempty"`
}

// NoticePrefix is the prefix of the identifiers of notices.
const NoticePrefix = "evt_"

// CompletedNotice returns the notice of a completed trigger, with the counts by outcome.
func CompletedNotice(p *Progress) (Notice, error) {
	data, err := json.Marshal(p)
	return Notice{
		ID: NoticePrefix + strings.TrimPrefix(p.TriggerID, "trg_"), Type: storage.EventTriggerCompleted,
		OrganizationID: p.OrganizationID, CreatedAt: p.CompletedAt, Traceparent: p.Traceparent, Data: data,
	}, err
}

// DisabledEndpoint describes an endpoint that the service has disabled.
type DisabledEndpoint struct {
	OrganizationID string                 `json:"organizationId" example:"acme"`
	EndpointID     string                 `json:"endpointId" example:"ep_01JZ2E6K8M0000000000000000"`
	URL            string                 `json:"url" example:"https://partner.example/hooks/gridhook"`
	Description    string                 `json:"description" example:"production"`
	Reason         storage.DisabledReason `json:"reason" doc:"GONE: the endpoint responded 410. FAILING: every attempt failed for longer than its retry policy allows." example:"GONE"`
	Detail         string                 `json:"detail" doc:"The reason in words." example:"it responded 410 Gone"`
	DisabledAt     storage.Time           `json:"disabledAt" doc:"When the endpoint was disabled."`
}

// DisabledNotice returns the notice of an endpoint that the service has disabled. ok is
// false if the service has not disabled it.
func DisabledNotice(e *storage.WebhookEndpoint) (n Notice, ok bool, err error) {
	if e.Enabled || e.Disabled == nil {
		return n, false, nil
	}
	at := e.Disabled.At
	n = Notice{
		ID: noticeID(at.Time, e.OrganizationID, e.ID), Type: storage.EventEndpointDisabled,
		OrganizationID: e.OrganizationID, About: e.ID, CreatedAt: at,
		Message: newMessage(at, alertEndpoint, e.ID, endpointAlert, fmt.Sprintf("Endpoint %s of %s is disabled", e.ID, e.OrganizationID),
			fmt.Sprintf("Gridhook disabled %s at %s: %s.", e.URL, inWords(at.Time), e.Disabled.Detail), "Triggers skip the endpoint until it is enabled again."),
	}
	n.Data, err = json.Marshal(DisabledEndpoint{
		OrganizationID: e.OrganizationID, EndpointID: e.ID, URL: e.URL, Description: e.Description,
		Reason: e.Disabled.Reason, Detail: e.Disabled.Detail, DisabledAt: at,
	})
	return n, true, err
}

// FlexAlert is a time in which a grid operator asks the homes on a rate plan to use less.
type FlexAlert struct {
	OrganizationID string       `json:"organizationId" example:"acme"`
	RatePlanID     string       `json:"ratePlanId" example:"pge-e-elec"`
	EventID        string       `json:"eventId" doc:"The event of the rate plan." example:"flex-20260702T230000Z"`
	Name           string       `json:"name" example:"Flex Alert"`
	From           storage.Time `json:"from"`
	To             storage.Time `json:"to"`
}

// FlexAlertNotice returns the notice of an alert that is known at a time. The same alert
// with another end has another notice.
func FlexAlertNotice(a FlexAlert, now time.Time) (Notice, error) {
	data, err := json.Marshal(a)
	return Notice{
		ID:   noticeID(a.From.Time, storage.EventFlexAlert, a.OrganizationID, a.RatePlanID, a.EventID, a.To.UTC().Format(time.RFC3339)),
		Type: storage.EventFlexAlert, OrganizationID: a.OrganizationID, CreatedAt: storage.Time{Time: now.UTC().Truncate(time.Millisecond)}, Data: data,
	}, err
}

// MessageID returns the webhook-id of the notice for an endpoint.
func (n *Notice) MessageID(endpointID string) string { return MessageID(n.ID, "", endpointID) }

// AppendBody appends the webhook's JSON. It is the same for every endpoint and attempt.
func (n *Notice) AppendBody(dst []byte) []byte {
	dst = append(dst, `{"type":"`+n.Type+`","timestamp":"`...)
	dst = n.CreatedAt.UTC().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","data":`...)
	return append(append(dst, n.Data...), '}')
}

// NoticeLog stores notices for the workers that send them.
type NoticeLog interface {
	// PutNotice stores a notice and returns when it is durable. If the notice is already
	// stored, fresh is false and nothing changes. Errors: storage.ErrUnavailable.
	PutNotice(ctx context.Context, n Notice) (fresh bool, err error)
}

// NoticeAttempt is the next attempt to send a notice to an endpoint or a notification channel.
type NoticeAttempt struct {
	Notice Notice `json:"notice"`
	// EndpointID is empty for a channel. ChannelID and Owner, the organization of the channel
	// or storage.Shared for the operator, are empty for an endpoint.
	EndpointID string `json:"endpointId,omitempty"`
	ChannelID  string `json:"channelId,omitempty"`
	Owner      string `json:"owner,omitempty"`
	// Attempt is the number of the next attempt, from 1.
	Attempt int `json:"attempt"`
	// Admitted says that the message has waited for its place in the channel's rate.
	Admitted bool `json:"admitted,omitempty"`
}

// Receiver returns the identifier of the endpoint or of the channel.
func (t *NoticeAttempt) Receiver() string { return t.EndpointID + t.ChannelID }

// Logged returns the owner of the delivery log with the attempt, and the notice's identifier
// there. The operator's channels carry the notices of organizations, whose logs must not show
// their outcomes.
func (t *NoticeAttempt) Logged() (owner, id string) {
	if t.Owner == storage.Shared {
		return t.Owner, t.Notice.ID + "_operator"
	}
	return t.Notice.OrganizationID, t.Notice.ID
}

// Task returns the task of the attempt at a time. Each notice has at most one task for an
// endpoint or a channel at any time. The task belongs to the organization of the notice, whose
// deletion removes it.
func (t *NoticeAttempt) Task(due time.Time) (Task, error) {
	kind := TaskNotice
	if t.ChannelID != "" {
		kind = TaskChannel
	}
	body, err := json.Marshal(t)
	return Task{
		TaskName: TaskName{Kind: kind, OrganizationID: t.Notice.OrganizationID, ID: t.Notice.MessageID(t.EndpointID + t.ChannelID)},
		DueAt:    storage.Time{Time: due.UTC()}, Body: body,
	}, err
}
