package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// Conn is a connection to NATS with Gridhook's streams.
type Conn struct {
	nc  *nats.Conn
	js  jetstream.JetStream
	log *slog.Logger
	// prefix gives the streams and subjects their names on NATS.
	prefix Prefix
	// publishWait is the timeout of one attempt of a durable publish, or of one request.
	publishWait time.Duration
	// options holds the options of Connect, with the settings of the existing streams.
	options Options
	// keepReplicas leaves the number of replicas of each existing stream as it is.
	keepReplicas bool
	// handles caches a jetstream.Stream by stream name.
	handles sync.Map
	gate    Gate
	// settingUp is held while a queue's consumer is created.
	settingUp sync.Mutex
	// withoutConsumer counts this process's queues that have no consumer yet.
	withoutConsumer atomic.Int32
}

// handle returns the cached jetstream.Stream for reading messages. Creating it asks the
// server about the whole stream, so it is created once. Its stream state is stale.
func (c *Conn) handle(ctx context.Context, stream string) (jetstream.Stream, error) {
	if s, ok := c.handles.Load(stream); ok {
		return s.(jetstream.Stream), nil
	}
	s, err := c.js.Stream(ctx, c.prefix.Name(stream))
	if err == nil {
		c.handles.Store(stream, s)
	}
	return s, err
}

// lastMessage returns the last message of a stream on a subject, nil if there is none.
// Errors: storage.ErrUnavailable.
func (c *Conn) lastMessage(ctx context.Context, stream, subject string) (*jetstream.RawStreamMsg, error) {
	return c.read(ctx, stream, func(ctx context.Context, s jetstream.Stream) (*jetstream.RawStreamMsg, error) {
		return s.GetLastMsgForSubject(ctx, c.prefix.Name(subject))
	})
}

// firstMessage returns the first message of a stream on a subject from a sequence on, nil
// if there is none. Errors: storage.ErrUnavailable.
func (c *Conn) firstMessage(ctx context.Context, stream, subject string, from uint64) (*jetstream.RawStreamMsg, error) {
	return c.read(ctx, stream, func(ctx context.Context, s jetstream.Stream) (*jetstream.RawStreamMsg, error) {
		return s.GetMsg(ctx, from, jetstream.WithGetMsgSubject(c.prefix.Name(subject)))
	})
}

// read gets a message of a stream, nil if there is none. Errors: storage.ErrUnavailable.
func (c *Conn) read(ctx context.Context, stream string, get func(context.Context, jetstream.Stream) (*jetstream.RawStreamMsg, error)) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, c.publishWait)
	defer cancel()
	var m *jetstream.RawStreamMsg
	s, err := c.handle(ctx, stream)
	if err == nil {
		m, err = get(ctx, s)
	}
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("%w: read the stream %s: %w", storage.ErrUnavailable, stream, err)
	}
	return m, nil
}

// lastValue decodes the last message of a stream on a subject. sequence is the message's
// sequence, 0 if there is none. Errors: storage.ErrUnavailable, and of a message that does
// not decode.
func lastValue[T any](ctx context.Context, c *Conn, stream, subject string) (v T, sequence uint64, err error) {
	m, err := c.lastMessage(ctx, stream, subject)
	if m == nil || err != nil {
		return v, 0, err
	}
	if err := json.Unmarshal(m.Data, &v); err != nil {
		return v, 0, fmt.Errorf("the message %s does not decode: %w", m.Subject, err)
	}
	return v, m.Sequence, nil
}

// messages iterates over the stored messages of a stream on a subject from a sequence on,
// one request for each message. Errors: storage.ErrUnavailable.
func (c *Conn) messages(ctx context.Context, stream, subject string, from uint64) iter.Seq2[*jetstream.RawStreamMsg, error] {
	return func(yield func(*jetstream.RawStreamMsg, error) bool) {
		for {
			m, err := c.firstMessage(ctx, stream, subject, from)
			if err != nil {
				yield(nil, err)
			}
			if m == nil || !yield(m, nil) {
				return
			}
			from = m.Sequence + 1
		}
	}
}

// streamInfo returns a stream's current state. Errors: storage.ErrUnavailable.
func (c *Conn) streamInfo(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, c.publishWait)
	defer cancel()
	s, err := c.js.Stream(ctx, c.prefix.Name(name))
	if err != nil {
		return nil, fmt.Errorf("%w: the stream %s: %w", storage.ErrUnavailable, name, err)
	}
	return s.CachedInfo(), nil
}

// TriggersAge returns the retention of the triggers.
func (c *Conn) TriggersAge() time.Duration { return c.options.TriggersAge }

// ReceiptsAge returns the retention of the receipts.
func (c *Conn) ReceiptsAge() time.Duration { return c.options.ReceiptsAge }

// setUpWait is the timeout for setting up a stream, and setUpAttempt the timeout of one attempt.
const (
	setUpWait    = 30 * time.Second
	setUpAttempt = 3 * time.Second
)

// repeatUnanswered repeats a request to which NATS does not respond, for up to setUpWait. A
// stream without a leader drops requests, such as a stream that another process makes now.
func repeatUnanswered(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, setUpWait)
	defer cancel()
	for {
		attempt, done := context.WithTimeout(ctx, setUpAttempt)
		err := request(attempt)
		done()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

// Connect connects to NATS and creates or updates the streams.
func Connect(ctx context.Context, url string, o Options, log *slog.Logger, opts ...nats.Option) (*Conn, error) {
	c, err := ConnectBare(url, o, log, opts...)
	if err != nil {
		return nil, err
	}
	c.keepReplicas = o.Replicas == 0
	if o, err = Resolve(ctx, c.js, o); err == nil {
		c.options = o
		err = c.MakeStreams(ctx, o)
	}
	if err != nil {
		c.nc.Close()
		return nil, err
	}
	return c, nil
}

// ConnectBare connects to NATS without creating or updating the streams.
func ConnectBare(url string, o Options, log *slog.Logger, opts ...nats.Option) (*Conn, error) {
	opts = append([]nats.Option{
		nats.Name("gridhook"),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a publish fails during a reconnect instead of later
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("NATS connection lost, reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("NATS connection restored", "server", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS error", "error", err) }),
	}, opts...)
	nc, err := Dial(url, opts...)
	if err != nil {
		return nil, err
	}
	// Without a timeout, a publish that a lost leader never acknowledges counts as pending
	// until the next reconnect.
	js, err := o.JetStream(nc, jetstream.WithPublishAsyncMaxPending(4096), jetstream.WithPublishAsyncTimeout(30*time.Second))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &Conn{
		nc: nc, js: js, log: log, prefix: o.Prefix,
		publishWait: publishWait, options: o.withDefaults(), gate: openGate,
	}, nil
}

// Dial connects to NATS and accesses no stream. Its error says what to do.
func Dial(url string, opts ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, connectError(url, err)
	}
	return nc, nil
}

// redacted removes the secrets from a list of URLs.
func redacted(urls string) string {
	list := strings.Split(urls, ",")
	for i, text := range list {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err != nil:
			list[i] = "a URL that cannot be read"
		case u.User != nil:
			u.User = url.User("xxxxx") // a user without a password is a token
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
		return fmt.Errorf("no NATS server responds at %s (%w): start the server, or correct --nats", url, err)
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("NATS at %s refuses the credentials: check --nats-creds", url)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("NATS at %s has no TLS: configure TLS in the server, or remove --nats-ca and tls://", url)
	}
	return fmt.Errorf("connect to NATS at %s: %w: correct the server or the nats settings", url, err)
}

// SettingUp reports whether a queue of this process has no consumer yet. The process then
// takes no message of that queue.
func (c *Conn) SettingUp() bool { return c.withoutConsumer.Load() > 0 }

// Connected reports whether the connection is up now.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// LastError returns why the last attempt to restore the connection failed, such as TLS. It is nil
// if no server responded.
func (c *Conn) LastError() error { return c.nc.LastError() }

// Reconnects returns the number of times that the connection was restored. It grows before
// the restored connection carries any message.
func (c *Conn) Reconnects() uint64 { return c.nc.Stats().Reconnects }

// Close sends buffered messages and acknowledgements, and closes the connection.
func (c *Conn) Close() error {
	err := c.nc.FlushTimeout(5 * time.Second)
	c.nc.Close()
	return err
}
