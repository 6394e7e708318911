package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats-server/v2/server/archive"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// Existing returns the names of Gridhook's streams that exist.
func (c *Conn) Existing(ctx context.Context) ([]string, error) {
	var found []string
	for _, cfg := range Configs(Options{Prefix: c.prefix}) {
		_, err := c.js.Stream(ctx, cfg.Name)
		switch {
		case err == nil:
			found = append(found, cfg.Name)
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			return nil, explain(err)
		}
	}
	return found, nil
}

// leaveTimeout is how long InUse waits for the consumer of a process that has just stopped, or
// of a backup that has just ended. The process removes it a moment later.
const leaveTimeout = 2 * time.Second

// InUse reports whether a running Gridhook follows STATE. The server forgets the consumer of a
// killed process after scanWait.
func (c *Conn) InUse(ctx context.Context) (bool, error) {
	for began := time.Now(); ; periodic.Sleep(ctx, leaveTimeout/20) {
		used, err := c.followed(ctx)
		if !used || err != nil || time.Since(began) > leaveTimeout {
			return used, err
		}
	}
}

// followed reports whether somebody reads STATE.
func (c *Conn) followed(ctx context.Context) (bool, error) {
	s, err := c.js.Stream(ctx, c.prefix.Name(stateStream))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err != nil {
		return false, explain(err)
	}
	list := s.ConsumerNames(ctx)
	used := false
	for range list.Name() {
		used = true
	}
	return used, list.Err()
}

// Resolve fills what the options leave open; see Resolve.
func (c *Conn) Resolve(ctx context.Context, o Options) (Options, error) { return Resolve(ctx, c.js, o) }

// Remove deletes Gridhook's streams with all their messages. It makes the stream of dead
// letters again, which a backup does not contain: a server removes the folder of its streams
// with a delay after it has deleted the last, and cannot restore a stream at that moment
// (nats-server 2.15).
func (c *Conn) Remove(ctx context.Context, names []string, o Options) error {
	for _, name := range names {
		if err := c.js.DeleteStream(ctx, name); err != nil {
			return fmt.Errorf("delete the stream %s: %w", name, err)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return c.create(ctx, c.config(DeadStream, o))
}

// config returns the settings of one of Gridhook's streams.
func (c *Conn) config(stream string, o Options) jetstream.StreamConfig {
	o.Prefix = c.prefix
	configs := Configs(o)
	return configs[slices.IndexFunc(configs, func(cfg jetstream.StreamConfig) bool { return cfg.Name == c.prefix.Name(stream) })]
}

// Extent describes a copied stream.
type Extent struct {
	// First and Last are the sequences of the first message, 0 if there is none, and of the
	// last.
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	// Handled is the last sequence that needs no processing after a restore.
	Handled uint64 `json:"handled,omitempty"`
}

// RestoreStream recreates a stream from the messages of Copy. The stream must not exist.
func (c *Conn) RestoreStream(ctx context.Context, content Content, o Options, extent Extent, messages iter.Seq2[Raw, error]) error {
	cfg := c.config(content.Stream, o)
	messages = c.named(messages)
	var err error
	if content.Queue {
		err = c.republish(ctx, cfg, messages)
	} else {
		err = c.restore(ctx, cfg, content.consumer, extent, messages)
	}
	if err != nil {
		return fmt.Errorf("restore the stream %s: %w", content.Stream, err)
	}
	return nil
}

// stayShare is the share of its retention for which a restored deletion stays that has passed it.
const stayShare = 24

// named gives copied messages their names on NATS. The server does not restore a deletion that
// has passed its retention, but the copy may have the deleted record, too. So such a deletion
// gets a longer retention, and replaces the record.
func (c *Conn) named(messages iter.Seq2[Raw, error]) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		for m, err := range messages {
			retention, invalid := time.ParseDuration(m.Header.Get(jetstream.MsgTTLHeader))
			if stays := time.Since(m.Time) + retention/stayShare; invalid == nil && retention < stays {
				m.Header.Set(jetstream.MsgTTLHeader, (stays.Truncate(time.Second) + time.Second).String())
			}
			if !yield(renameMessage(m, c.prefix.Name), err) {
				return
			}
		}
	}
}

// maxPending is the maximum number of unacknowledged publishes.
const maxPending = 256

// create creates a stream and retries for up to setUpWait, because a server may not be able
// to; see Remove.
func (c *Conn) create(ctx context.Context, cfg jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, setUpWait)
	defer cancel()
	_, err := retryUntilResponse(ctx, c.log.With("stream", cfg.Name), "make a stream", func(ctx context.Context) (jetstream.Stream, error) {
		return c.js.CreateStream(ctx, cfg)
	})
	return explain(err)
}

// republish creates a stream and publishes its messages.
func (c *Conn) republish(ctx context.Context, cfg jetstream.StreamConfig, messages iter.Seq2[Raw, error]) error {
	if err := c.create(ctx, cfg); err != nil {
		return err
	}
	var waiting []jetstream.PubAckFuture
	settle := func(least int) error {
		for len(waiting) > least {
			if err := stored(ctx, waiting[0]); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
		return nil
	}
	for m, err := range messages {
		if err != nil {
			return err
		}
		// The expectations of the first publish may not hold any more.
		for name := range m.Header {
			if strings.HasPrefix(name, "Nats-Expected-") || name == jetstream.MsgIDHeader {
				delete(m.Header, name)
			}
		}
		future, err := c.js.PublishMsgAsync(&nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
		if err != nil {
			return err
		}
		waiting = append(waiting, future)
		if err := settle(maxPending); err != nil {
			return err
		}
	}
	return settle(0)
}

// restoreBlock is the size of a compressed block, in bytes. One request sends one block.
// The server aborts a restore if it cannot store a block within five seconds (nats-server
// 2.15). With SyncAlways it syncs each message. So a block must not hold more messages
// than a slow disk can sync in that time.
const restoreBlock = 16 << 10

// restore creates a stream with messages at their old sequences and times. It uses the
// STREAM.RESTORE operation of the JetStream API, and the archive format of nats-server
// 2.15.
func (c *Conn) restore(ctx context.Context, cfg jetstream.StreamConfig, taken *queue, extent Extent, messages iter.Seq2[Raw, error]) error {
	request, err := json.Marshal(map[string]any{"config": cfg, "state": extent.state(0)})
	if err != nil {
		return err
	}
	subject, err := c.ask(ctx, c.options.apiPrefix()+"STREAM.RESTORE."+cfg.Name, request)
	if err != nil {
		return err
	}
	if taken != nil {
		named := taken.named(c.prefix)
		taken = &named
	}
	if err := compress(chunks{ctx, c, subject}, taken, extent, messages); err != nil {
		if failed := c.js.DeleteStream(ctx, cfg.Name); !errors.Is(failed, jetstream.ErrStreamNotFound) {
			err = errors.Join(err, failed) // the stream may be partly restored
		}
		return err
	}
	_, err = c.ask(ctx, subject, nil) // ends the restore
	return err
}

// compress writes a stream in the compressed form that the server restores.
func compress(w io.Writer, taken *queue, extent Extent, messages iter.Seq2[Raw, error]) error {
	compressed := s2.NewWriter(w, s2.WriterBlockSize(restoreBlock), s2.WriterConcurrency(1))
	return errors.Join(writeArchive(archive.NewWriter(compressed), taken, extent, messages), compressed.Close())
}

// restoreWait is the timeout of one request during a restore.
const restoreWait = time.Minute

// subscribeTimeout limits the wait until a server of a cluster learns of another server's
// subscription. A restore without input also lasts that long.
const subscribeTimeout = 5 * time.Second

// subscribeDelay is the delay between two such requests.
const subscribeDelay = 50 * time.Millisecond

// ask sends a request to a restoring server. It repeats the request if NATS knows no
// subscriber, as then no server received it. The restoring server announces its subject,
// and the announcement may arrive before all servers know of the subscription. ask returns
// the subject for the next requests, if the response has one.
func (c *Conn) ask(ctx context.Context, subject string, request []byte) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, restoreWait)
	defer cancel()
	var response *nats.Msg
	for heard := time.Now().Add(subscribeTimeout); ; periodic.Sleep(ctx, subscribeDelay) {
		response, err = c.nc.RequestWithContext(ctx, subject, request)
		if !errors.Is(err, nats.ErrNoResponders) || time.Now().After(heard) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if len(response.Data) == 0 {
		return "", nil
	}
	var result struct {
		Subject string              `json:"deliver_subject"`
		Error   *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(response.Data, &result); err != nil {
		return "", err
	}
	if result.Error != nil {
		return "", result.Error
	}
	return result.Subject, nil
}

// chunks sends each write and waits for its acknowledgement.
type chunks struct {
	ctx     context.Context
	c       *Conn
	subject string
}

func (w chunks) Write(b []byte) (int, error) {
	if _, err := w.c.ask(w.ctx, w.subject, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// state returns the stream state that a restore announces to the server.
func (e Extent) state(consumers int) jetstream.StreamState {
	s := jetstream.StreamState{Msgs: e.Messages, Bytes: e.Bytes, FirstSeq: e.First, LastSeq: e.Last, Consumers: consumers}
	if e.Messages == 0 && e.Last > 0 {
		s.FirstSeq = e.Last + 1
	}
	return s
}

// writeArchive writes a stream in the server's archive format. If a queue takes the
// stream's messages, the archive includes its consumer at the last handled sequence.
func writeArchive(w *archive.Writer, taken *queue, extent Extent, messages iter.Seq2[Raw, error]) error {
	consumers := 0
	if taken != nil {
		consumers = 1
	}
	state, err := json.Marshal(extent.state(consumers))
	if err != nil {
		return err
	}
	if err := entry(w, archive.Header{Name: "state.json", PayloadSize: int64(len(state))}, state); err != nil {
		return err
	}
	if consumers > 0 {
		if err := writeConsumer(w, taken, min(extent.Handled, extent.Last)); err != nil {
			return err
		}
	}
	for m, err := range messages {
		if err != nil {
			return err
		}
		header := encodeHeader(m.Header)
		h := archive.Header{
			Name: m.Subject, Timestamp: m.Time.UnixNano(), Sequence: m.Sequence,
			HeaderSize: int64(len(header)), PayloadSize: int64(len(m.Data)),
		}
		if err := entry(w, h, header, m.Data); err != nil {
			return err
		}
	}
	if err := entry(w, archive.Header{}); err != nil { // end of the archive
		return err
	}
	return w.Close()
}

func writeConsumer(w *archive.Writer, q *queue, handled uint64) error {
	config := q.config()
	config.Name = config.Durable
	place := map[string]uint64{"consumer_seq": handled, "stream_seq": handled}
	text, err := json.Marshal(map[string]any{"config": config, "state": map[string]any{"delivered": place, "ack_floor": place}})
	if err != nil {
		return err
	}
	return entry(w, archive.Header{Name: "consumers/" + q.name, PayloadSize: int64(len(text))}, text)
}

func entry(w *archive.Writer, h archive.Header, parts ...[]byte) error {
	if err := w.WriteHeader(&h); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// encodeHeader returns the wire format of a header (NATS ADR-4).
func encodeHeader(h nats.Header) []byte {
	if len(h) == 0 {
		return nil
	}
	b := []byte("NATS/1.0\r\n")
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			b = append(b, name+": "+value+"\r\n"...)
		}
	}
	return append(b, '\r', '\n')
}
