package events

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/gridhook/gridhook/storage"
)

// The identifier of a notice for people contains the hour or day of its event, so that
// NOTICES stores one notice of a kind in that time. A flapping endpoint cannot cause more.

// failingShares are the shares of disableAfterSeconds at which people are notified of a
// failing endpoint, the largest first.
var failingShares = []float64{0.5, 0.25}

// leastShare is the share from which an outage is worth a notice.
const leastShare = 0.25

// EndpointHealth is the data of the notice of an endpoint that fails or has recovered.
type EndpointHealth struct {
	OrganizationID string       `json:"organizationId"`
	EndpointID     string       `json:"endpointId"`
	URL            string       `json:"url"`
	Failures       int          `json:"failures"`
	FailingSince   storage.Time `json:"failingSince"`
	LastFailure    string       `json:"lastFailure"`
	// DisabledAt is when the service will disable a failing endpoint, zero for never.
	DisabledAt storage.Time `json:"disabledAt,omitzero"`
	// RecoveredAt is zero while the endpoint fails.
	RecoveredAt storage.Time `json:"recoveredAt,omitzero"`
}

// HealthNotice returns the notice of an endpoint that has failed for a share of the time
// after which it is disabled, or that has recovered from such an outage. ok is false if
// neither is the case.
func HealthNotice(e *storage.WebhookEndpoint, h *Health) (n Notice, ok bool, err error) {
	tolerated := e.RetryPolicy.Tolerated()
	data := EndpointHealth{OrganizationID: e.OrganizationID, EndpointID: e.ID, URL: e.URL, LastFailure: h.LastFailure}
	n = Notice{OrganizationID: e.OrganizationID, About: e.ID}
	level := ""
	switch o := h.LastOutage; {
	case h.State == HealthFailing && e.Enabled && h.ConsecutiveFailures >= storage.LeastFailures:
		since, lasted := h.failed(e)
		for _, share := range failingShares {
			if after := time.Duration(share * float64(tolerated)); lasted >= after {
				n.CreatedAt, level = storage.Time{Time: since.Add(after)}, strconv.FormatFloat(share, 'f', -1, 64)
				break
			}
		}
		if level == "" {
			return n, false, nil
		}
		n.Type, data.FailingSince, data.Failures = storage.EventEndpointFailing, storage.Time{Time: since}, h.ConsecutiveFailures
		if e.RetryPolicy.DisableAfterSeconds > 0 {
			data.DisabledAt = storage.Time{Time: since.Add(tolerated)}
		}
		since = h.FailingSince.Time
		n.ID = noticeID(since.Truncate(time.Hour), n.Type, e.OrganizationID, e.ID, level)
	case h.State == HealthGood && o != nil && o.Until.Sub(o.Since.Time) >= time.Duration(leastShare*float64(tolerated)):
		n.Type, n.CreatedAt = storage.EventEndpointRecovered, o.Until
		data.FailingSince, data.RecoveredAt, data.Failures = o.Since, o.Until, o.Failures
		n.ID = noticeID(o.Since.Truncate(time.Hour), n.Type, e.OrganizationID, e.ID)
	default:
		return n, false, nil
	}
	n.Data, err = json.Marshal(data)
	return n, true, err
}

// FailuresNotice returns the notice of a completed trigger of which more than a share of
// the deliveries failed. ok is false if fewer did. Each organization has at
// most one such notice an hour.
func FailuresNotice(p *Progress, share float64) (n Notice, ok bool, err error) {
	all := 0
	for _, deliveries := range p.Outcomes {
		all += deliveries
	}
	if failed := p.Failed(); failed == 0 || float64(failed) <= share*float64(all) {
		return n, false, nil
	}
	n = Notice{
		ID:   noticeID(p.CompletedAt.Truncate(time.Hour), storage.EventTriggerFailures, p.OrganizationID),
		Type: storage.EventTriggerFailures, OrganizationID: p.OrganizationID, CreatedAt: p.CompletedAt, Traceparent: p.Traceparent,
	}
	n.Data, err = json.Marshal(p)
	return n, true, err
}

// QuotaUse is the data of the notice of a near quota.
type QuotaUse struct {
	OrganizationID string `json:"organizationId"`
	// Setting is the operator's name of the limit.
	Setting string `json:"setting"`
	Used    int64  `json:"used"`
	Max     int64  `json:"max"`
}

// nearShare is the share of a quota from which it is near.
const nearShare = 0.8

// QuotaNotices returns the notices of an organization's quotas that are near. Each quota
// has at most one notice a day.
func QuotaNotices(org string, q Quota, u Usage, now time.Time) ([]Notice, error) {
	var notices []Notice
	for _, use := range []QuotaUse{
		{org, settingWaiting, int64(u.Waiting), int64(q.Waiting)}, {org, settingHistory, u.Bytes, q.Bytes},
	} {
		if use.Max == 0 || float64(use.Used) < nearShare*float64(use.Max) {
			continue
		}
		data, err := json.Marshal(use)
		if err != nil {
			return nil, err
		}
		const day = 24 * time.Hour
		notices = append(notices, Notice{
			ID:   noticeID(now.Truncate(day), storage.EventQuotaNear, org, use.Setting),
			Type: storage.EventQuotaNear, OrganizationID: org, CreatedAt: storage.Time{Time: now}, Data: data,
		})
	}
	return notices, nil
}

// noticeID returns the identifier of an event at a time. The parts identify the event.
func noticeID(at time.Time, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // it fails only from the year 10889 on
	_ = id.SetEntropy(sum[:10])        // the length is right
	return NoticePrefix + id.String()
}

// ChannelAttempt is the next attempt to send a notice to a notification channel.
type ChannelAttempt struct {
	Notice Notice `json:"notice"`
	// Owner is the organization of the channel, storage.Shared for the operator.
	Owner     string `json:"owner"`
	ChannelID string `json:"channelId"`
	// Attempt is the number of the next attempt, from 1.
	Attempt int `json:"attempt"`
	// Admitted says that the message has waited for its place in the channel's rate.
	Admitted bool `json:"admitted,omitempty"`
}

// Task returns the task of the attempt at a time. Each notice and channel has at most one
// pending task.
func (t *ChannelAttempt) Task(due time.Time) (Task, error) {
	body, err := json.Marshal(t)
	return Task{
		Kind: TaskChannel, OrganizationID: t.Owner, ID: t.Notice.MessageID(t.ChannelID),
		DueAt: storage.Time{Time: due.UTC()}, Body: body,
	}, err
}

// ChannelTest is the result of a test message to a notification channel.
type ChannelTest struct {
	Delivered bool   `json:"delivered" doc:"Whether the receiver, or the operator's SMTP server, accepted the message." example:"true"`
	Reason    string `json:"reason,omitempty" doc:"Why the message was not delivered." example:"the endpoint responded 404 Not Found"`
}

// NewChannelTest returns the notice of a test of a channel.
func NewChannelTest(c *storage.Channel, now time.Time) Notice {
	id := storage.NewID(NoticePrefix, now)
	return Notice{
		ID: id, Type: storage.EventChannelTest, OrganizationID: c.OrganizationID, CreatedAt: storage.Time{Time: now},
		Data: fmt.Appendf(nil, `{"channelId":%q}`, c.ID),
	}
}
