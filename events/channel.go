package events

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/gridhook/gridhook/storage"
)

// The identifier of a notice for people contains the hour or day of its event, so that
// NOTICES stores one notice of a kind in that time. A flapping endpoint cannot cause more.

// Message is a notice in words, for notification channels.
type Message struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	// Alert is the alert's name for Alertmanager. Object is the endpoint or the quota that
	// the alert is about, empty for the organization.
	Alert  string `json:"alert"`
	Object string `json:"object,omitempty"`
	// Start and End are the times of the alert. It fires until End, unless a later message
	// ends it.
	Start storage.Time `json:"start"`
	End   storage.Time `json:"end"`
}

// Names of alerts. A failing, a disabled and a recovered endpoint have the same alert.
const (
	alertEndpoint = "GridhookEndpointFailing"
	alertTrigger  = "GridhookTriggerFailures"
	alertQuota    = "GridhookQuotaNear"
	alertTest     = "GridhookChannelTest"
)

// Times for which the alerts fire.
const (
	endpointAlert = 7 * 24 * time.Hour
	triggerAlert  = time.Hour
	quotaAlert    = 24 * time.Hour
	testAlert     = 5 * time.Minute
)

// newMessage returns the message of an event at a time.
func newMessage(at storage.Time, alert, object string, lasts time.Duration, title string, lines ...string) *Message {
	return &Message{
		Title: title, Text: strings.Join(lines, "\n"), Alert: alert, Object: object, Start: at, End: storage.Time{Time: at.Add(lasts)},
	}
}

// inWords returns a time in words.
func inWords(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// failingShares are the shares of disableAfterSeconds at which people are notified of a
// failing endpoint, the largest first. A shorter outage has no notice of its end either.
var failingShares = []float64{0.5, 0.25}

// reached returns the time after which an outage has reached the largest of failingShares
// that it has reached. ok is false if it has reached none.
func reached(e *storage.WebhookEndpoint, lasted time.Duration) (after time.Duration, ok bool) {
	for _, share := range failingShares {
		if after = time.Duration(share * float64(e.RetryPolicy.Tolerated())); lasted >= after {
			return after, true
		}
	}
	return 0, false
}

// FailingNotice returns the notice of a failing endpoint. ok is false if the endpoint has
// failed for less than the smallest share.
func FailingNotice(e *storage.WebhookEndpoint, h *Health) (n Notice, ok bool) {
	if h.State != HealthFailing || !e.Enabled || h.ConsecutiveFailures < storage.LeastFailures {
		return n, false
	}
	since, lasted := h.failed(e)
	after, ok := reached(e, lasted)
	if !ok {
		return n, false
	}
	at := storage.Time{Time: since.Add(after)}
	next := "Gridhook does not disable this endpoint."
	if e.RetryPolicy.DisableAfterSeconds > 0 {
		next = "Gridhook disables the endpoint at " + inWords(since.Add(e.RetryPolicy.Tolerated())) + " unless a delivery succeeds."
	}
	return Notice{
		ID:   noticeID(since.Truncate(time.Hour), storage.EventEndpointFailing, e.OrganizationID, e.ID, after.String()),
		Type: storage.EventEndpointFailing, OrganizationID: e.OrganizationID, About: e.ID, CreatedAt: at,
		Message: newMessage(at, alertEndpoint, e.ID, endpointAlert, fmt.Sprintf("Endpoint %s of %s is failing", e.ID, e.OrganizationID),
			fmt.Sprintf("Every attempt to deliver to %s has failed since %s, %d in a row.", e.URL, inWords(since), h.ConsecutiveFailures),
			"The last failure: "+h.LastFailure+".", next),
	}, true
}

// RecoveredNotice returns the notice of an endpoint that has recovered from an outage that
// people were notified of. ok is false if there was none. Each share has its own notice, as
// in FailingNotice: without the end of the longer of two outages, its alert would go on.
func RecoveredNotice(e *storage.WebhookEndpoint, h *Health) (n Notice, ok bool) {
	o := h.LastOutage
	if h.State != HealthGood || o == nil {
		return n, false
	}
	after, ok := reached(e, o.longest(e))
	if !ok {
		return n, false
	}
	outage := o.Since.Truncate(time.Hour)
	if tooLong(e, o.longest(e)) {
		outage = o.Since.Time // the endpoint was disabled, and each such notice needs its end
	}
	n = Notice{
		ID:   noticeID(outage, storage.EventEndpointRecovered, e.OrganizationID, e.ID, after.String()),
		Type: storage.EventEndpointRecovered, OrganizationID: e.OrganizationID, About: e.ID, CreatedAt: o.Until,
		Message: newMessage(o.Since, alertEndpoint, e.ID, 0, fmt.Sprintf("Endpoint %s of %s has recovered", e.ID, e.OrganizationID),
			"A delivery to "+e.URL+" succeeded at "+inWords(o.Until.Time)+".",
			fmt.Sprintf("Every attempt had failed since %s, %d in a row.", inWords(o.Since.Time), o.Failures)),
	}
	n.Message.End = o.Until
	return n, true
}

// FailuresNotice returns the notice of a completed trigger with many failed deliveries. ok
// is false if no more than a share failed. Each organization has at most one such
// notice an hour.
func FailuresNotice(p *Progress, share float64) (n Notice, ok bool) {
	all := 0
	for _, deliveries := range p.Outcomes {
		all += deliveries
	}
	failed, expired, unpriceable := p.Outcomes[OutcomeFailed], p.Outcomes[OutcomeExpired], p.Outcomes[OutcomeUnpriceable]
	lost := failed + expired + unpriceable
	if lost == 0 || float64(lost) <= share*float64(all) {
		return n, false
	}
	return Notice{
		ID:   noticeID(p.CompletedAt.Truncate(time.Hour), storage.EventTriggerFailures, p.OrganizationID),
		Type: storage.EventTriggerFailures, OrganizationID: p.OrganizationID, CreatedAt: p.CompletedAt, Traceparent: p.Traceparent,
		Message: newMessage(p.CompletedAt, alertTrigger, "", triggerAlert, fmt.Sprintf("A trigger of %s ended with failures", p.OrganizationID),
			fmt.Sprintf("%d of %d deliveries of trigger %s failed (failed: %d, expired: %d, without a price: %d).", lost, all, p.TriggerID, failed, expired, unpriceable),
			"The delivery log has the reason of each failure."),
	}, true
}

// nearShare is the share of a quota whose use makes the quota near.
const nearShare = 0.8

// QuotaNotices returns the notices of an organization's quotas that are near, given the
// use of its triggers and the size of its records in bytes. Each quota has at most one
// notice a day.
func QuotaNotices(org string, q Quota, u Usage, stored int64, now time.Time) (notices []Notice) {
	const triggers, records = "its triggers get response 429", "new records get response 409"
	for _, quota := range []struct {
		QuotaError
		then string
	}{
		{QuotaError{org, settingWaiting, int64(u.Waiting), int64(q.Waiting)}, triggers},
		{QuotaError{org, settingHistory, u.Bytes, q.Bytes}, triggers},
		{QuotaError{org, storage.SettingMaxState, stored, q.Stored}, records},
	} {
		use := quota.QuotaError
		if use.Max == 0 || float64(use.Used) < nearShare*float64(use.Max) {
			continue
		}
		const day = 24 * time.Hour
		at := storage.Time{Time: now}
		notices = append(notices, Notice{
			ID:   noticeID(now.Truncate(day), storage.EventQuotaNear, org, use.Setting),
			Type: storage.EventQuotaNear, OrganizationID: org, CreatedAt: at,
			Message: newMessage(at, alertQuota, use.Setting, quotaAlert, fmt.Sprintf("Organization %s is near its quota %s", org, use.Setting),
				fmt.Sprintf("It uses %d of %d. At the limit, %s.", use.Used, use.Max, quota.then)),
		})
	}
	return notices
}

// NewChannelTest returns the notice of a test of a channel.
func NewChannelTest(c *storage.Channel, now time.Time) Notice {
	at := storage.Time{Time: now}
	return Notice{
		ID: storage.NewID(NoticePrefix, now), Type: storage.EventChannelTest, OrganizationID: c.OrganizationID, CreatedAt: at,
		Message: newMessage(at, alertTest, c.ID, testAlert, "Test of a notification channel", "Notices of Gridhook arrive here."),
	}
}

// ChannelTest is the result of a test message to a notification channel.
type ChannelTest struct {
	Delivered bool   `json:"delivered" doc:"Whether the receiver, or the operator's SMTP server, accepted the message." example:"true"`
	Reason    string `json:"reason,omitempty" doc:"Why the message was not delivered." example:"the endpoint responded 404 Not Found"`
}

// noticeID returns the identifier of an event at a time. The parts identify the event.
func noticeID(at time.Time, parts ...string) string { return derivedID(NoticePrefix, at, parts...) }

// derivedID returns an identifier like storage.NewID, but the same for the same time and
// parts.
func derivedID(prefix string, at time.Time, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at)) // it fails only from the year 10889 on
	_ = id.SetEntropy(sum[:10])        // the length is right
	return prefix + id.String()
}
