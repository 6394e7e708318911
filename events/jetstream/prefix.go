package jetstream

import (
	"cmp"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Prefix is the first part of the names of an installation's streams and subjects on NATS.
// Installations with different prefixes share a NATS account. The code and the backups
// have the names of DefaultPrefix.
type Prefix string

// DefaultPrefix is the prefix of an installation without one.
const DefaultPrefix Prefix = "gridhook"

// Name returns the name on NATS of a stream or a subject.
func (p Prefix) Name(name string) string {
	return rename(name, DefaultPrefix, cmp.Or(p, DefaultPrefix))
}

// standard reverses Name.
func (p Prefix) standard(name string) string {
	return rename(name, cmp.Or(p, DefaultPrefix), DefaultPrefix)
}

// rename replaces the prefix of a stream, as in GRIDHOOK_STATE, or of a subject, as in
// gridhook.state.>. It keeps names without the prefix.
func rename(name string, from, to Prefix) string {
	if rest, ok := strings.CutPrefix(name, string(from)+"."); ok {
		return string(to) + "." + rest
	}
	if rest, ok := strings.CutPrefix(name, strings.ToUpper(string(from))+"_"); ok {
		return strings.ToUpper(string(to)) + "_" + rest
	}
	return name
}

// subjectHeaders are the headers whose values are subjects.
var subjectHeaders = []string{jetstream.ScheduleTargetHeader, jetstream.SchedulerHeader}

// renameMessage renames the subject of a message and the subjects in its header.
func renameMessage(m Raw, name func(string) string) Raw {
	m.Subject = name(m.Subject)
	for _, header := range subjectHeaders {
		if subject := m.Header.Get(header); subject != "" {
			m.Header.Set(header, name(subject))
		}
	}
	return m
}

// JetStream returns a client of the installation's JetStream domain.
func (o Options) JetStream(nc *nats.Conn, opts ...jetstream.JetStreamOpt) (jetstream.JetStream, error) {
	return jetstream.NewWithAPIPrefix(nc, o.apiPrefix(), opts...)
}

// apiPrefix returns the first part of the subjects of the JetStream API.
func (o Options) apiPrefix() string {
	if o.Domain != "" {
		return "$JS." + o.Domain + ".API."
	}
	return jetstream.DefaultAPIPrefix
}
