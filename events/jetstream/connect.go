package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Conn is a connection to NATS with the streams set up.
type Conn struct {
	nc  *nats.Conn
	js  jetstream.JetStream
	log *slog.Logger
	// publishWait bounds one try of a durable publish, or one question.
	publishWait time.Duration
	// handles are what messages are read by, of jetstream.Stream by name.
	handles sync.Map
	// settingUp is held while a queue's consumer is made.
	settingUp sync.Mutex
}

// handle is what a stream's messages are read by. To make one asks the server about
// the whole stream, so it is made once; what it says of the stream's state is old.
func (c *Conn) handle(ctx context.Context, stream string) (jetstream.Stream, error) {
	if s, ok := c.handles.Load(stream); ok {
		return s.(jetstream.Stream), nil
	}
	s, err := c.js.Stream(ctx, stream)
	if err == nil {
		c.handles.Store(stream, s)
	}
	return s, err
}

// setUpWait bounds setting up a stream.
const setUpWait = 30 * time.Second

// Connect connects to NATS and makes or updates the streams.
func Connect(ctx context.Context, url string, o Options, log *slog.Logger, opts ...nats.Option) (*Conn, error) {
	c, err := ConnectBare(url, log, opts...)
	if err != nil {
		return nil, err
	}
	if err := ensureStreams(ctx, c.js, o); err != nil {
		c.nc.Close()
		return nil, err
	}
	return c, nil
}

// ConnectBare connects to NATS and takes the streams as they are.
func ConnectBare(url string, log *slog.Logger, opts ...nats.Option) (*Conn, error) {
	opts = append([]nats.Option{
		nats.Name("gridhook"),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a publish during a reconnect fails now instead of later
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the connection to NATS was lost; reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("connected to NATS again", "server", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS reports an error", "error", err) }),
	}, opts...)
	nc, err := Dial(url, opts...)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &Conn{nc: nc, js: js, log: log, publishWait: publishWait}, nil
}

// Dial connects to NATS and to nothing in it. Its error says what to do.
func Dial(url string, opts ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, connectError(url, err)
	}
	return nc, nil
}

// redacted is a list of URLs without what is secret in them.
func redacted(urls string) string {
	list := strings.Split(urls, ",")
	for i, text := range list {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err != nil:
			list[i] = "a URL that cannot be read"
		case u.User != nil:
			u.User = url.User("xxxxx") // a user alone is a token
			list[i] = u.String()
		}
	}
	return strings.Join(list, ",")
}

func connectError(url string, err error) error {
	url = redacted(url)
	switch {
	case url == "": // the embedded server
		return fmt.Errorf("connect to the embedded nats-server: %w", err)
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("no NATS server answers at %s (%w): start it, or correct --nats", url, err)
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("NATS at %s refuses the credentials: check --nats-creds", url)
	}
	return fmt.Errorf("connect to NATS at %s: %w", url, err)
}

// Connected reports whether the connection is up now.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// Close sends what is buffered, acknowledgements included, and closes the
// connection.
func (c *Conn) Close() error {
	err := c.nc.FlushTimeout(5 * time.Second)
	c.nc.Close()
	return err
}

// publishTries and publishWait bound one durable publish: every try has the same
// message id, because a publish that timed out may have been stored.
const (
	publishTries = 3
	publishWait  = 4 * time.Second
)

// errAfterNoAnswer is a storage.ErrConflict of a publish whose earlier try was
// not answered: it may have met itself.
var errAfterNoAnswer = fmt.Errorf("%w, or by an earlier try that was not answered", storage.ErrConflict)

// publish stores a message and waits until it is durable. Errors:
// storage.ErrConflict when an expectation does not hold, storage.ErrUnavailable
// when NATS does not answer or cannot store now.
func (c *Conn) publish(ctx context.Context, subject, messageID string, data []byte, opts ...jetstream.PublishOpt) (uint64, error) {
	return c.publishTraced(ctx, "", subject, messageID, data, opts...)
}

// publishTraced is publish of what belongs to a trace, which the message's header says
// to whoever looks into NATS.
func (c *Conn) publishTraced(ctx context.Context, place events.Traceparent, subject, messageID string, data []byte, opts ...jetstream.PublishOpt) (uint64, error) {
	opts = append(opts, jetstream.WithMsgID(messageID))
	var failed error
	for range publishTries {
		try, cancel := context.WithTimeout(ctx, c.publishWait)
		ack, err := c.js.PublishMsg(try, message(place, subject, data), opts...)
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			err = refusal(refused)
			if failed != nil && errors.Is(err, storage.ErrConflict) {
				err = errAfterNoAnswer
			}
			return 0, err
		}
		if errors.Is(err, nats.ErrMaxPayload) {
			return 0, tooLarge(err)
		}
		failed = err
		if ctx.Err() != nil {
			break
		}
	}
	return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, failed)
}

func message(place events.Traceparent, subject string, data []byte) *nats.Msg {
	m := &nats.Msg{Subject: subject, Data: data}
	if place != "" {
		m.Header = nats.Header{events.TraceHeader: {string(place)}}
	}
	return m
}

// tooLarge is the error of a message that NATS will not take however often it is tried.
func tooLarge(err error) error {
	return fmt.Errorf("%w: set max_payload: 8MB in the NATS server", err)
}

// refusal turns an error that JetStream answered into one of storage's.
func refusal(e *jetstream.APIError) error {
	if e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || e.ErrorCode == wrongLastSequenceConstant {
		return storage.ErrConflict
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, e)
}

// wrongLastSequenceConstant is the code that a server of a cluster answers where
// JSErrCodeStreamWrongLastSequence is meant (nats-server errors.json).
const wrongLastSequenceConstant = 10164
