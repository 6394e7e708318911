package jetstream

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// publisher returns one error for each publish.
type publisher struct {
	jetstream.JetStream
	errors []error
}

func (p *publisher) PublishMsg(context.Context, *nats.Msg, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	err := p.errors[0]
	p.errors = p.errors[1:]
	return &jetstream.PubAck{Sequence: 7}, err
}

// A publish that timed out may be stored, whatever the later attempts say.
func TestPublish_OutcomeUnknown(t *testing.T) {
	timeout, noLeader := context.DeadlineExceeded, nats.ErrNoResponders
	full := &jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "maximum messages exceeded"}
	conflict := &jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}
	for name, tt := range map[string]struct {
		errors  []error
		cause   error
		unknown bool
	}{
		"no leader":                 {[]error{noLeader, noLeader, noLeader}, storage.ErrUnavailable, false},
		"full":                      {[]error{full}, storage.ErrUnavailable, false},
		"a timeout, then no leader": {[]error{timeout, noLeader, noLeader}, storage.ErrUnavailable, true},
		"a timeout at last":         {[]error{noLeader, noLeader, timeout}, storage.ErrUnavailable, true},
		"a timeout, then full":      {[]error{timeout, full}, storage.ErrUnavailable, true},
		"a timeout, then conflict":  {[]error{timeout, conflict}, errAfterNoResponse, false},
		"conflict":                  {[]error{conflict}, storage.ErrConflict, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Conn{js: &publisher{errors: tt.errors}, publishWait: publishWait, gate: openGate}
			_, err := c.publishTraced(t.Context(), "", "subject", "id", 1)
			if !errors.Is(err, tt.cause) || errors.Is(err, context.DeadlineExceeded) != tt.unknown {
				t.Errorf("%v", err)
			}
		})
	}
}

// A publish that a cluster refuses because an earlier write is not decided yet is repeated until
// it is decided.
func TestPublish_Undecided(t *testing.T) {
	subject, message := &jetstream.APIError{Code: 400, ErrorCode: 10164}, &jetstream.APIError{Code: 409, ErrorCode: 10158}
	conflict := &jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}
	undecided := slices.Repeat([]error{subject, message}, 20)
	for name, tt := range map[string]struct {
		errors   []error
		sequence uint64
		cause    error
	}{
		"then stored":     {append(undecided, nil), 7, nil},
		"then conflict":   {append(undecided, conflict), 0, storage.ErrConflict},
		"for a long time": {slices.Repeat([]error{subject}, 1000), 0, storage.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &Conn{js: &publisher{errors: tt.errors}, publishWait: publishWait, gate: openGate}
				sequence, err := c.publishTraced(t.Context(), "", "subject", "id", 1)
				if sequence != tt.sequence || !errors.Is(err, tt.cause) {
					t.Errorf("sequence %d, %v", sequence, err)
				}
			})
		})
	}
}

// A publish is not repeated once the gate refuses new records: the server may have come back
// with older files.
func TestPublish_RepeatAsksGate(t *testing.T) {
	p := &publisher{errors: []error{nats.ErrConnectionClosed, nil}}
	c := &Conn{js: p, publishWait: publishWait, gate: Gate{Refusal: func() error { return storage.ErrUnavailable }}}
	_, err := c.publishTraced(t.Context(), "", "subject", "id", 1)
	if !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, nats.ErrConnectionClosed) || len(p.errors) != 1 {
		t.Errorf("%v, and %d of 2 publishes are left", err, len(p.errors))
	}
}
