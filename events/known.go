package events

// Known holds the signals that an endpoint already has, for the homes of one slice of an
// organization. The endpoint's last response to each of them was 2xx. A signal that is
// not in Known must be sent.
type Known struct {
	// Receiver identifies the endpoint's URL and format at the time. A signal in Known says
	// nothing about another receiver.
	Receiver string `json:"receiver"`
	// Signals are the fingerprints of the signals, by home.
	Signals map[string]string `json:"signals"`
	// Revision is the sequence of this state in its log, 0 if there is none yet. The
	// stored form leaves it out.
	Revision uint64 `json:"-"`
}
