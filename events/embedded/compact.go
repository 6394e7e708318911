package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Compact copies every stream of a stopped server into a new folder, with its consumers and
// the sequences and times of its messages. The copy has no byte of messages that were
// replaced, deleted or expired. The server itself keeps such bytes in its files until
// half of a file is unused. The log has a line for each copied stream. The limit of the store
// does not apply: the store may be beyond it.
func Compact(ctx context.Context, o Options, folder string) (err error) {
	o.MQTT, o.MaxStore = nil, noLimit
	from, err := Start(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Stop(o.StartTimeout)) }()
	o.Dir, o.lazySync = folder, true
	to, err := Start(o)
	if err != nil {
		return err
	}
	err = errors.Join(copyStreams(ctx, from, to), from.accounts.copyTo(folder))
	if err = errors.Join(err, to.Stop(o.StartTimeout)); err != nil {
		return err
	}
	return syncTree(folder)
}

// noLimit is a limit of a store that no disk reaches.
const noLimit = 1 << 60

// copyStreams copies the streams of Gridhook's account.
func copyStreams(ctx context.Context, from, to *Server) error {
	source, err := nats.Connect("", from.Option())
	if err != nil {
		return err
	}
	defer source.Close()
	account, err := from.running().JszAccount(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true})
	if err != nil {
		return fmt.Errorf("list the streams: %w", err)
	}
	for _, s := range account.Streams {
		began := time.Now()
		if err := copyStream(ctx, source, to.running().GlobalAccount(), s.Name); err != nil {
			return fmt.Errorf("copy the stream %s: %w", s.Name, err)
		}
		from.options.Log.Info("stream copied", "stream", s.Name, "ms", time.Since(began).Milliseconds())
	}
	return nil
}

// copyStream restores a snapshot of a stream into another server's account.
func copyStream(ctx context.Context, source *nats.Conn, to *server.Account, name string) error {
	chunks, err := source.SubscribeSync(nats.NewInbox())
	if err != nil {
		return err
	}
	defer func() { _ = chunks.Unsubscribe() }()
	request, err := json.Marshal(server.JSApiStreamSnapshotRequest{DeliverSubject: chunks.Subject, ChunkSize: snapshotChunk})
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	m, err := source.RequestWithContext(waiting, fmt.Sprintf(server.JSApiStreamSnapshotT, name), request)
	if err != nil {
		return err
	}
	var begun server.JSApiStreamSnapshotResponse
	if err := cmp.Or(json.Unmarshal(m.Data, &begun), begun.ToError()); err != nil {
		return err
	}
	from := &snapshot{ctx: ctx, chunks: chunks}
	if _, err := to.RestoreStreamV2(begun.Config, from); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, from) // its end says whether it is whole
	return err
}

// snapshotChunk is the size of a chunk in bytes. The server ends a snapshot if nobody takes a
// chunk within five seconds.
const snapshotChunk = 64 << 10

// chunkTimeout limits the wait for a chunk. The size of a store, and so the duration of its
// copy, has no limit.
const chunkTimeout = time.Minute

// snapshot reads a stream's snapshot, which arrives in chunks.
type snapshot struct {
	ctx    context.Context //nolint:containedctx // Read has no context
	chunks *nats.Subscription
	unread []byte // of the current chunk
	end    error  // after the last chunk
}

func (s *snapshot) Read(p []byte) (int, error) {
	if len(s.unread) == 0 && s.end == nil {
		s.unread, s.end = s.next()
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, s.end
}

// next takes the next chunk. It returns io.EOF for the last one, which is empty.
func (s *snapshot) next() ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.ctx, chunkTimeout)
	defer cancel()
	chunk, err := s.chunks.NextMsgWithContext(ctx)
	if err != nil {
		return nil, err
	}
	switch status := chunk.Header.Get("Status"); {
	case len(chunk.Data) > 0 && chunk.Reply != "":
		return chunk.Data, chunk.Respond(nil)
	case len(chunk.Data) > 0:
		return chunk.Data, nil
	case status != "" && status != "204":
		return nil, fmt.Errorf("the snapshot ended with %s %s", status, chunk.Header.Get("Description"))
	}
	return nil, io.EOF
}

// syncTree makes a folder's files survive a power cut.
func syncTree(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		mode := os.O_RDWR // Windows syncs only files that are open for writing, and no folder
		if entry != nil && entry.IsDir() {
			mode = os.O_RDONLY
		}
		if err != nil || mode == os.O_RDONLY && runtime.GOOS == "windows" {
			return err
		}
		f, err := os.OpenFile(path, mode, 0) //nolint:gosec // in the new folder
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
