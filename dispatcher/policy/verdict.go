package policy

import "net/http"

// Verdict is the meaning of an attempt for its message.
type Verdict int

// Verdicts.
const (
	// Delivered: the endpoint has the message.
	Delivered Verdict = iota
	// Retry: another attempt may succeed.
	Retry
	// Gone: the endpoint wants no more messages.
	Gone
)

// Judge returns the verdict on an attempt with a status, or with an error and no status.
// Only 2xx is Delivered. A redirect is not followed and counts as a failure. Every other
// status is retried. This includes 404, because an endpoint may respond 404 by mistake
// during a deployment.
func Judge(status int, err error) Verdict {
	switch {
	case err != nil:
		return Retry
	case status >= 200 && status < 300:
		return Delivered
	case status == http.StatusGone:
		return Gone
	default:
		return Retry
	}
}
