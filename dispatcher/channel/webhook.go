package channel

import (
	"encoding/json"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// alertsPath is the path of Alertmanager's operation that takes alerts.
const alertsPath = "/api/v2/alerts"

// postURL returns the URL to post to.
func postURL(kind storage.ChannelKind, address string) string {
	if kind == storage.ChannelAlertmanager && !strings.HasSuffix(address, alertsPath) {
		return strings.TrimSuffix(address, "/") + alertsPath
	}
	return address
}

// object is a JSON object.
type object = map[string]any

// body returns the message of a notice in the form of a kind of webhook.
func body(kind storage.ChannelKind, n *events.Notice) ([]byte, error) {
	m := n.Message
	switch kind {
	case storage.ChannelTeams:
		return json.Marshal(card(m))
	case storage.ChannelAlertmanager:
		return json.Marshal([]object{alert(m, n.OrganizationID)})
	}
	return json.Marshal(object{"text": slackText.Replace("*" + m.Title + "*\n" + m.Text)})
}

// slackText escapes the control characters of Slack's markup, so that no text mentions a
// group or hides a link (docs.slack.dev, "Formatting message text").
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// cardText escapes the Markdown of Adaptive Cards.
var cardText = strings.NewReplacer("[", `\[`, "]", `\]`, "*", `\*`, "\n", "\n\n")

// card returns a message of Teams with an Adaptive Card.
func card(m *events.Message) object {
	return object{"type": "message", "attachments": []object{{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content": object{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"body": []object{
				{"type": "TextBlock", "text": cardText.Replace(m.Title), "weight": "Bolder", "wrap": true},
				{"type": "TextBlock", "text": cardText.Replace(m.Text), "wrap": true},
			},
		},
	}}}
}

// alert returns an alert. Its labels identify it, so that a later notice of the same
// object replaces or ends it.
func alert(m *events.Message, org string) object {
	labels := map[string]string{"alertname": m.Alert, "severity": "warning", "service": "gridhook", "organization": org}
	if m.Object != "" {
		labels["object"] = m.Object
	}
	return object{
		"labels": labels, "annotations": map[string]string{"summary": m.Title, "description": m.Text},
		"startsAt": m.Start, "endsAt": m.End,
	}
}
