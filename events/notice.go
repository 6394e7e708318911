package events

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/gridhook/gridhook/storage"
)

// Notice is something that happened and that an organization's endpoints are told
// of beside price signals. Unlike a signal it is a happening: no later one takes its
// place.
type Notice struct {
	// ID is a function of what happened, so that whoever sees it makes the same.
	ID             string `json:"id"`
	Type           string `json:"type"`
	OrganizationID string `json:"organizationId"`
	// About is the endpoint that it is about, which is not told itself; empty where
	// it is about none.
	About string `json:"about,omitempty"`
	// CreatedAt is when it happened.
	CreatedAt storage.Time `json:"createdAt"`
	// Traceparent is the place in a trace of what brought it about, empty where that
	// is in none. It has no part in what is sent.
	Traceparent Traceparent `json:"traceparent,omitempty"`
	// Data is the webhook's data.
	Data json.RawMessage `json:"data"`
}

// NoticePrefix begins the identifiers of notices.
const NoticePrefix = "evt_"

// CompletedNotice tells that a trigger has come to its end, with the counts by
// outcome.
func CompletedNotice(p *Progress) (Notice, error) {
	data, err := json.Marshal(p)
	return Notice{
		ID: NoticePrefix + strings.TrimPrefix(p.TriggerID, "trg_"), Type: storage.EventTriggerCompleted,
		OrganizationID: p.OrganizationID, CreatedAt: p.CompletedAt, Traceparent: p.Traceparent, Data: data,
	}, err
}

// DisabledEndpoint is an endpoint that the service has disabled.
type DisabledEndpoint struct {
	OrganizationID string `json:"organizationId"`
	EndpointID     string `json:"endpointId"`
	URL            string `json:"url"`
	Description    string `json:"description"`
	// Reason is GONE where it answered 410, FAILING where every attempt failed for
	// as long as its retry policy bears.
	Reason storage.DisabledReason `json:"reason"`
	// Detail says the reason in words.
	Detail string `json:"detail"`
	// DisabledAt is when.
	DisabledAt storage.Time `json:"disabledAt"`
}

// DisabledNotice tells that the service has disabled an endpoint. ok is false where
// it has not.
func DisabledNotice(e *storage.WebhookEndpoint) (n Notice, ok bool, err error) {
	if e.Enabled || e.Disabled == nil {
		return n, false, nil
	}
	at := e.Disabled.At
	sum := sha256.Sum256([]byte(e.OrganizationID + "\x00" + e.ID))
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at.Time)) // it fails in the year 10889
	_ = id.SetEntropy(sum[:10])             // it has the right length
	n = Notice{
		ID: NoticePrefix + id.String(), Type: storage.EventEndpointDisabled,
		OrganizationID: e.OrganizationID, About: e.ID, CreatedAt: at,
	}
	n.Data, err = json.Marshal(DisabledEndpoint{
		OrganizationID: e.OrganizationID, EndpointID: e.ID, URL: e.URL, Description: e.Description,
		Reason: e.Disabled.Reason, Detail: e.Disabled.Detail, DisabledAt: at,
	})
	return n, true, err
}

// MessageID is the webhook-id by which an endpoint is told.
func (n *Notice) MessageID(endpointID string) string { return MessageID(n.ID, "", endpointID) }

// AppendBody appends the webhook's JSON, the same for every endpoint and attempt.
func (n *Notice) AppendBody(dst []byte) []byte {
	dst = append(dst, `{"type":"`+n.Type+`","timestamp":"`...)
	dst = n.CreatedAt.UTC().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","data":`...)
	return append(append(dst, n.Data...), '}')
}

// NoticeLog is where notices are put for those who tell endpoints of them.
type NoticeLog interface {
	// PutNotice stores a notice and returns when it is durable. One that is there
	// stays as it is, and fresh is false. Errors: storage.ErrUnavailable.
	PutNotice(ctx context.Context, n Notice) (fresh bool, err error)
}

// Telling is one endpoint's attempt at a notice.
type Telling struct {
	Notice     Notice `json:"notice"`
	EndpointID string `json:"endpointId"`
	// Attempt is the number of the attempt to be made, from 1.
	Attempt int `json:"attempt"`
}

// Task is the task to make the attempt at a time. There is one for each notice and
// endpoint at any time.
func (t *Telling) Task(due time.Time) (Task, error) {
	body, err := json.Marshal(t)
	return Task{
		Kind: TaskNotice, OrganizationID: t.Notice.OrganizationID, ID: t.Notice.MessageID(t.EndpointID),
		DueAt: storage.Time{Time: due.UTC()}, Body: body,
	}, err
}
