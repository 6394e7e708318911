package events

// Known are the signals that an endpoint is known to have, of the homes of one
// slice of an organization: those that it has answered 2xx last. What is not in it
// has to be sent.
type Known struct {
	// Signals are fingerprints of signals, by home.
	Signals map[string]string `json:"signals"`
	// Revision is the place of this state in its log, 0 when there is none yet.
	// It is not in the stored form.
	Revision uint64 `json:"-"`
}
