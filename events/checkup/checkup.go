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

// Options say whom to ask.
type Options struct {
	// URL and NATS are how Gridhook connects.
	URL  string
	NATS []nats.Option
	// Streams say how Gridhook would keep its streams.
	Streams own.Options
	// Monitors are the addresses of the servers' monitoring, such as
	// http://10.0.0.5:8222; empty where there is none.
	Monitors []string
}

// Facts are what was found out.
type Facts struct {
	// Version and MaxPayload, in bytes, are those of the server that answered.
	Version    string
	MaxPayload int64
	// Encrypted says that the connection is.
	Encrypted bool
	// Account is what JetStream tells of the account. Refused says why it tells
	// nothing.
	Account *jetstream.AccountInfo
	Refused error
	// Streams are those that Gridhook needs, those that are not made yet left out.
	Streams []Stream
	// Trial is why a stream such as Gridhook's could not be made, written and
	// taken away; nil when it could. Ack is how long one write took.
	Trial error
	Ack   time.Duration
	// Clocks are what the servers say of the time, by server.
	Clocks []Clock
	// Servers are the settings of each server. Silent says why there are none.
	Servers []Server
	Silent  error
}

// Stream is a stream as it is and as Gridhook would have it.
type Stream struct {
	Is   jetstream.StreamInfo
	Want jetstream.StreamConfig
}

// Clock is what one server said of the time.
type Clock struct {
	Server string
	// Ahead is how far its clock is ahead of this machine's, at most Within off:
	// half of the time that the question took.
	Ahead, Within time.Duration
}

// wait bounds each question.
const wait = 5 * time.Second

// Look asks. Its error says that nobody could be asked at all.
func Look(ctx context.Context, o Options) (Facts, error) {
	// What a user may not do is told beside the question, which stays unanswered.
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
	js, err := jetstream.New(nc)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Version: nc.ConnectedServerVersion(), MaxPayload: nc.MaxPayload(), Encrypted: nc.TLSRequired()}
	if state, err := nc.TLSConnectionState(); err == nil {
		f.Encrypted = state.HandshakeComplete
	}
	if f.Account, f.Refused = account(allowed, js); f.Refused == nil {
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

func account(ctx context.Context, js jetstream.JetStream) (*jetstream.AccountInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return js.AccountInfo(ctx)
}

// streams notes the streams that are there, and the clocks of who tells of them.
func (f *Facts) streams(ctx context.Context, js jetstream.JetStream, o own.Options) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, want := range own.Configs(o) {
		asked := time.Now()
		s, err := js.Stream(ctx, want.Name)
		if err != nil {
			continue // made at the first start; whether it can be is tried
		}
		is := s.CachedInfo()
		f.Streams = append(f.Streams, Stream{Is: *is, Want: want})
		if is.Cluster != nil && is.Cluster.Leader != "" {
			f.clock(is.Cluster.Leader, is.TimeStamp, asked)
		} else {
			f.clock("the server", is.TimeStamp, asked)
		}
	}
}

// clock notes what a server said of the time in an answer to a question.
func (f *Facts) clock(server string, says, asked time.Time) {
	if says.IsZero() {
		return
	}
	took := time.Since(asked)
	c := Clock{Server: server, Ahead: says.Sub(asked.Add(took / 2)), Within: took / 2}
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

// try makes a stream as Gridhook's are, writes to it once and takes it away.
func try(ctx context.Context, js jetstream.JetStream, o own.Options) (ack time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*wait)
	defer cancel()
	trial := own.Trial(o)
	if _, err := js.CreateStream(ctx, trial); err != nil {
		return 0, fmt.Errorf("make a stream: %w", err)
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		if gone := js.DeleteStream(clean, trial.Name); gone != nil {
			err = errors.Join(err, fmt.Errorf("delete the stream %s again: %w", trial.Name, gone))
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
