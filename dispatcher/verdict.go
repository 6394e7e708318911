package dispatcher

import "net/http"

// verdict is what an answer means for a message.
type verdict int

// The verdicts.
const (
	// delivered: the partner has it.
	delivered verdict = iota
	// again: it is worth another try.
	again
	// gone: the partner wants nothing more at this endpoint.
	gone
)

// judge reads an attempt. Only 2xx is delivered: a redirect is not followed and
// counts as a failure, and what a partner answers by mistake today (a 404 during
// a deployment) is tried again until the signal has expired.
func judge(a attempt) verdict {
	switch {
	case a.err != nil:
		return again
	case a.status >= 200 && a.status < 300:
		return delivered
	case a.status == http.StatusGone:
		return gone
	default:
		return again
	}
}
