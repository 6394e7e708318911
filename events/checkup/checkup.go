package checkup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	own "github.com/gridhook/gridhook/events/jetstream"
)

// Options select the NATS servers to check.
type Options struct {
	// URL and NATS are Gridhook's own connection settings.
	URL  string
	NATS []nats.Option
	// Streams are Gridhook's stream settings.
	Streams own.Options
	// Monitors are the monitoring addresses of the servers, such as http://10.0.0.5:8222.
	// It may be empty.
	Monitors []string
}

// Facts are the results of a check.
type Facts struct {
	// Prefix is the prefix of Gridhook's streams and subjects.
	Prefix own.Prefix
	// Version and MaxPayload, in bytes, describe the server that responded.
	Version    string
	MaxPayload int64
	// Encrypted reports whether the connection uses TLS.
	Encrypted bool
	// Account is JetStream's description of the account. Refused is the error if
	// JetStream gives none.
	Account *jetstream.AccountInfo
	Refused error
	// Streams are Gridhook's streams. Streams that do not exist yet are left out.
	Streams []Stream
	// Trial is the error of creating, writing and deleting a stream like Gridhook's, nil
	// on success. Ack is the duration of one write.
	Trial error
	Ack   time.Duration
	// Clocks are the clocks of the servers.
	Clocks []Clock
	// Servers are the settings of each server that describes them to this user. Silent is the
	// error of the others.
	Servers []Server
	Silent  error
}

// Stream compares a stream's actual and wanted settings.
type Stream struct {
	Is   jetstream.StreamInfo
	Want jetstream.StreamConfig
}

// Clock is the clock of one server.
type Clock struct {
	Server string
	// Ahead is the server's lead over the local clock. Within is its maximum error: half
	// of the round-trip time.
	Ahead, Within time.Duration
}

// wait is the timeout of each request, as it is in JetStream by default.
const wait = 5 * time.Second

// Look checks the servers. It returns an error if no server responds.
func Look(ctx context.Context, o Options) (Facts, error) {
	// NATS reports a permission violation to the error handler. The request itself gets
	// no response.
	allowed, forbid := context.WithCancelCause(ctx)
	defer forbid(nil)
	refused := nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			forbid(err)
		}
	})
	nc, err := own.Dial(o.URL, append([]nats.Option{nats.Timeout(wait), nats.MaxReconnects(0), refused}, o.NATS...)...)
	if err != nil {
		return Facts{}, err
	}
	defer nc.Close()
	js, err := o.Streams.JetStream(nc)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Prefix: o.Streams.Prefix, Version: nc.ConnectedServerVersion(), MaxPayload: nc.MaxPayload(), Encrypted: nc.TLSRequired()}
	if state, err := nc.TLSConnectionState(); err == nil {
		f.Encrypted = state.HandshakeComplete
	}
	if f.Account, f.Refused = js.AccountInfo(allowed); f.Refused == nil {
		f.streams(allowed, js, o.Streams)
		if f.Ack, f.Trial = try(allowed, js, o.Streams); f.Trial != nil && allowed.Err() != nil {
			f.Trial = context.Cause(allowed)
		}
	} else if allowed.Err() != nil {
		f.Refused = context.Cause(allowed)
	}
	f.servers(ctx, nc, o.Monitors)
	return f, nil
}

// streams adds the existing streams, and the clocks of the servers that describe them.
func (f *Facts) streams(ctx context.Context, js jetstream.JetStream, o own.Options) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if resolved, err := own.Resolve(ctx, js, o); err == nil { // otherwise a stream cannot be read, which its own check says
		o = resolved
	}
	for _, want := range own.Configs(o) {
		sentAt := time.Now()
		s, err := js.Stream(ctx, want.Name)
		if err != nil {
			continue // created at the first start; try finds out whether it can be
		}
		is := s.CachedInfo()
		f.Streams = append(f.Streams, Stream{Is: *is, Want: want})
		if is.Cluster != nil && is.Cluster.Leader != "" {
			f.clock(is.Cluster.Leader, is.TimeStamp, sentAt)
		} else {
			f.clock("the server", is.TimeStamp, sentAt)
		}
	}
}

// clock adds a server's clock. sentAt is the time of the request, says the time in the
// response.
func (f *Facts) clock(server string, says, sentAt time.Time) {
	if says.IsZero() {
		return
	}
	took := time.Since(sentAt)
	c := Clock{Server: server, Ahead: says.Sub(sentAt.Add(took / 2)), Within: took / 2}
	for i := range f.Clocks {
		if f.Clocks[i].Server == server {
			if c.Within < f.Clocks[i].Within {
				f.Clocks[i] = c
			}
			return
		}
	}
	f.Clocks = append(f.Clocks, c)
}

// try creates a stream like Gridhook's, writes to it once and deletes it.
func try(ctx context.Context, js jetstream.JetStream, o own.Options) (ack time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*wait)
	defer cancel()
	trial := own.Trial(o)
	if _, err := js.CreateStream(ctx, trial); err != nil {
		return 0, fmt.Errorf("create a stream: %w", err)
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		if gone := js.DeleteStream(clean, trial.Name); gone != nil {
			err = errors.Join(err, fmt.Errorf("delete the trial stream %s: %w", trial.Name, gone))
		}
	}()
	began := time.Now()
	if _, err := js.Publish(ctx, trial.Subjects[0], []byte("{}")); err != nil {
		return 0, fmt.Errorf("write to a stream: %w", err)
	}
	ack = time.Since(began)
	consumer, err := js.CreateConsumer(ctx, trial.Name, jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return ack, fmt.Errorf("read from a stream: %w", err)
	}
	m, err := consumer.Next(jetstream.FetchMaxWait(wait))
	if err == nil {
		err = m.DoubleAck(ctx)
	}
	if err != nil {
		return ack, fmt.Errorf("read from a stream: %w", err)
	}
	return ack, nil
}
