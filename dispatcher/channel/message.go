package channel

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Message is a notice in words.
type Message struct {
	Title, Text string
	// Alert is the alert's name for Alertmanager. Object is the endpoint, the trigger or
	// the quota that the alert is about, empty for the organization.
	Alert, Object string
	// Start and End are the times of the alert. An alert with a later End is firing.
	Start, End time.Time

	notice *events.Notice
}

// Times after which Alertmanager ends an alert that no later notice ends.
const (
	endpointAlert = 7 * 24 * time.Hour
	triggerAlert  = time.Hour
	quotaAlert    = 24 * time.Hour
	testAlert     = 5 * time.Minute
)

// Names of alerts. A failing, a disabled and a recovered endpoint have the same alert.
const (
	alertEndpoint = "GridhookEndpointFailing"
	alertTrigger  = "GridhookTriggerFailures"
	alertQuota    = "GridhookQuotaNear"
	alertTest     = "GridhookChannelTest"
)

// NewMessage returns a notice in words. Errors: the notice is of another type, or its
// data does not decode.
func NewMessage(n *events.Notice) (m Message, err error) {
	m = Message{Start: n.CreatedAt.Time, notice: n}
	switch n.Type {
	case storage.EventEndpointFailing, storage.EventEndpointRecovered:
		err = m.health()
	case storage.EventEndpointDisabled:
		err = m.disabled()
	case storage.EventTriggerFailures:
		err = m.failures()
	case storage.EventQuotaNear:
		err = m.quota()
	case storage.EventChannelTest:
		m.alert(alertTest, "", testAlert)
		m.say("Test of a notification channel", "Notices of Gridhook arrive here.")
	default:
		err = fmt.Errorf("notification channels do not carry %s", n.Type)
	}
	return m, err
}

func (m *Message) say(title string, lines ...string) {
	m.Title, m.Text = title, strings.Join(lines, "\n")
}

func (m *Message) alert(name, object string, lasts time.Duration) {
	m.Alert, m.Object, m.End = name, object, m.Start.Add(lasts)
}

func (m *Message) health() error {
	var d events.EndpointHealth
	if err := json.Unmarshal(m.notice.Data, &d); err != nil {
		return err
	}
	m.alert(alertEndpoint, d.EndpointID, endpointAlert)
	if recovered := d.RecoveredAt; !recovered.IsZero() {
		m.Start, m.End = d.FailingSince.Time, recovered.Time
		m.say(fmt.Sprintf("Endpoint %s of %s has recovered", d.EndpointID, d.OrganizationID),
			"A delivery to "+d.URL+" succeeded at "+moment(recovered)+".",
			fmt.Sprintf("Every attempt had failed since %s, %d in a row.", moment(d.FailingSince), d.Failures))
		return nil
	}
	next := "Gridhook does not disable this endpoint."
	if !d.DisabledAt.IsZero() {
		next = "Gridhook disables the endpoint at " + moment(d.DisabledAt) + " unless a delivery succeeds."
	}
	m.say(fmt.Sprintf("Endpoint %s of %s is failing", d.EndpointID, d.OrganizationID),
		fmt.Sprintf("Every attempt to deliver to %s has failed since %s, %d in a row.", d.URL, moment(d.FailingSince), d.Failures),
		"The last failure: "+d.LastFailure+".", next)
	return nil
}

func (m *Message) disabled() error {
	var d events.DisabledEndpoint
	if err := json.Unmarshal(m.notice.Data, &d); err != nil {
		return err
	}
	m.alert(alertEndpoint, d.EndpointID, endpointAlert)
	m.say(fmt.Sprintf("Endpoint %s of %s is disabled", d.EndpointID, d.OrganizationID),
		fmt.Sprintf("Gridhook disabled %s at %s: %s.", d.URL, moment(d.DisabledAt), d.Detail),
		"Triggers skip the endpoint until it is enabled again.")
	return nil
}

func (m *Message) failures() error {
	var p events.Progress
	if err := json.Unmarshal(m.notice.Data, &p); err != nil {
		return err
	}
	all := 0
	for _, deliveries := range p.Outcomes {
		all += deliveries
	}
	m.alert(alertTrigger, "", triggerAlert)
	m.say(fmt.Sprintf("A trigger of %s ended with failures", p.OrganizationID),
		fmt.Sprintf("%d of %d deliveries of trigger %s failed (failed: %d, expired: %d, without a price: %d).", p.Failed(), all, p.TriggerID,
			p.Outcomes[events.OutcomeFailed], p.Outcomes[events.OutcomeExpired], p.Outcomes[events.OutcomeUnpriceable]),
		"The delivery log has the reason of each failure.")
	return nil
}

func (m *Message) quota() error {
	var q events.QuotaUse
	if err := json.Unmarshal(m.notice.Data, &q); err != nil {
		return err
	}
	m.alert(alertQuota, q.Setting, quotaAlert)
	m.say(fmt.Sprintf("Organization %s is near its quota %s", q.OrganizationID, q.Setting),
		fmt.Sprintf("It uses %d of %d. At the limit, its triggers get response 429.", q.Used, q.Max))
	return nil
}

func moment(t storage.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
