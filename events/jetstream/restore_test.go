package jetstream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats-server/v2/server/archive"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// A server has five seconds per chunk of a restored stream, and syncs every message in
// it. So each chunk has few messages, even if they compress well.
func TestRestore_ChunkMessages(t *testing.T) {
	t.Parallel()
	const messages, most = 20_000, 100
	var chunks sent
	all := func(yield func(Raw, error) bool) {
		for n := range messages {
			id := fmt.Sprintf("home_%d", n)
			m := Raw{Subject: stateSubject(storage.KindHome.Ref("org", id)), Sequence: uint64(n + 1), Time: noon, Data: []byte(`{"v":2,"value":{"id":"` + id + `"` + strings.Repeat(`,"enabled":true`, 10) + `}}`)}
			if !yield(m, nil) {
				return
			}
		}
	}
	must(t, compress(&chunks, nil, Extent{First: 1, Last: messages, Messages: messages}, all))

	// The server reads the chunks one after another.
	in := archive.NewReader(s2.NewReader(&chunks))
	read, before := 0, 0
	chunks.taken = func() {
		if read-before > most {
			t.Errorf("chunk has %d messages", read-before)
		}
		before = read
	}
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if h.Sequence > 0 {
			read++
		}
	}
	if read != messages {
		t.Errorf("restored %d messages of %d", read, messages)
	}
}

// The creation of a stream is repeated while the server cannot create it.
func TestRestore_RetriesCreation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(t, dir)
	names, err := b.Existing(within(t))
	must(t, err)
	must(t, b.Remove(within(t), names, streamOptions))
	if left, err := b.Existing(within(t)); !slices.Equal(left, []string{DeadStream}) || err != nil {
		t.Errorf("%v are left, %v", left, err)
	}
	cfg := Configs(streamOptions)[0]
	inTheWay := filepath.Join(dir, "jetstream", "$G", "streams", cfg.Name)
	must(t, os.WriteFile(inTheWay, nil, 0o600))
	made := make(chan error, 1)
	before := b.wire.count("$JS.API.STREAM.CREATE")
	go func() { made <- b.create(within(t), cfg) }()
	b.wire.await(t, "$JS.API.STREAM.CREATE", before+2)
	_ = os.Remove(inTheWay) // unless the server removed it
	must(t, receive(t, made))
}

// A backup may have a record and its deletion, if the record was deleted while it was copied. The
// record does not come back, even if the deletion has passed its retention since.
func TestRestore_ExpiredDeletion(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	names, err := b.Existing(within(t))
	must(t, err)
	must(t, b.Remove(within(t), names, streamOptions))
	ref := storage.KindHome.Ref("org", "gone")
	messages := func(yield func(Raw, error) bool) {
		deleted := time.Now().Add(-2 * deletionsAge)
		_ = yield(Raw{1, deleted, stateSubject(ref), nil, []byte(`{"v":2,"at":1,"value":{}}`)}, nil) &&
			yield(Raw{2, deleted, stateSubject(ref), nats.Header{jetstream.MsgTTLHeader: {deletionsAge.String()}}, []byte(`{"v":2,"at":2,"deleted":true,"expires":3}`)}, nil)
	}
	content := Content{Stream: stateStream, Latest: true}
	must(t, b.RestoreStream(within(t), content, streamOptions, Extent{First: 1, Last: 2, Messages: 2, Bytes: 200}, messages))
	if r, err := b.StateLog().Read(within(t), ref); err != nil || !r.Deleted {
		t.Errorf("the deleted record is %+v, %v", r, err)
	}
}

// A chunk is sent again until a server listens for it.
func TestRestore_NoResponder(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	const subject = "restores.here"
	taken := make(chan error, 1)
	before := b.wire.count(subject)
	go func() {
		_, err := chunks{within(t), b.Conn, subject}.Write([]byte("chunk"))
		taken <- err
	}()
	b.wire.await(t, subject, before+2)
	got := make(chan string, 9)
	listening, err := b.nc.Subscribe(subject, func(m *nats.Msg) {
		got <- string(m.Data)
		_ = m.Respond(nil)
	})
	must(t, err)
	defer func() { _ = listening.Unsubscribe() }()
	must(t, receive(t, taken))
	if text := receive(t, got); text != "chunk" || len(got) != 0 {
		t.Errorf("got %q and %d more", text, len(got))
	}
}

// sent records written chunks. Read returns one chunk after another.
type sent struct {
	chunks [][]byte
	taken  func()
}

func (s *sent) Write(b []byte) (int, error) {
	s.chunks = append(s.chunks, slices.Clone(b))
	return len(b), nil
}

func (s *sent) Read(p []byte) (int, error) {
	if len(s.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; len(s.chunks[0]) == 0 {
		s.chunks = s.chunks[1:]
		s.taken()
	}
	return n, nil
}
