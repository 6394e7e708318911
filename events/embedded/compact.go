package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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

func copyStreams(ctx context.Context, from, to *Server) error {
	source, err := nats.Connect("", from.Option())
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := nats.Connect("", to.Option())
	if err != nil {
		return err
	}
	defer target.Close()
	js, err := jetstream.New(source)
	if err != nil {
		return err
	}
	names, list := []string(nil), js.StreamNames(ctx)
	for name := range list.Name() { // the list has a timeout of its own, and a copy takes as long as it takes
		names = append(names, name)
	}
	if err := list.Err(); err != nil {
		return fmt.Errorf("list the streams: %w", err)
	}
	for _, name := range names {
		began := time.Now()
		if err := copyStream(ctx, source, target, name); err != nil {
			return fmt.Errorf("copy the stream %s: %w", name, err)
		}
		from.options.Log.Info("stream copied", "stream", name, "ms", time.Since(began).Milliseconds())
	}
	return nil
}

// copyStream passes a snapshot of a stream from one server to another, chunk by chunk.
func copyStream(ctx context.Context, source, target *nats.Conn, name string) error {
	chunks, err := source.SubscribeSync(nats.NewInbox())
	if err != nil {
		return err
	}
	defer func() { _ = chunks.Unsubscribe() }()
	request, err := json.Marshal(map[string]any{"deliver_subject": chunks.Subject, "chunk_size": snapshotChunk})
	if err != nil {
		return err
	}
	snapshot, err := ask(ctx, source, "$JS.API.STREAM.SNAPSHOT."+name, request)
	if err != nil {
		return err
	}
	request, err = json.Marshal(map[string]any{"config": snapshot.Config, "state": snapshot.State})
	if err != nil {
		return err
	}
	restore, err := ask(ctx, target, "$JS.API.STREAM.RESTORE."+name, request)
	if err != nil {
		return err
	}
	for {
		chunk, err := next(ctx, chunks)
		if err != nil {
			return err
		}
		if status := chunk.Header.Get("Status"); len(chunk.Data) == 0 && status != "" && status != "204" {
			return fmt.Errorf("the snapshot ended with %s %s", status, chunk.Header.Get("Description"))
		}
		if _, err := ask(ctx, target, restore.Subject, chunk.Data); err != nil || len(chunk.Data) == 0 {
			return err
		}
		if chunk.Reply != "" {
			if err := chunk.Respond(nil); err != nil {
				return err
			}
		}
	}
}

// snapshotChunk is the size of a chunk in bytes. The server stores a chunk within five
// seconds, or it aborts the restore.
const snapshotChunk = 64 << 10

// chunkTimeout limits the wait for a chunk and for a server's response. The size of a
// store, and so the duration of its copy, has no limit.
const chunkTimeout = time.Minute

// response has the fields of responses of the JetStream API to snapshots and restores.
type response struct {
	Config  json.RawMessage     `json:"config"`
	State   json.RawMessage     `json:"state"`
	Subject string              `json:"deliver_subject"`
	Error   *jetstream.APIError `json:"error"`
}

// next returns the next chunk of a snapshot.
func next(ctx context.Context, chunks *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	return chunks.NextMsgWithContext(ctx)
}

// ask sends a request of the JetStream API.
func ask(ctx context.Context, nc *nats.Conn, subject string, request []byte) (r response, err error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, subject, request)
	if err != nil || len(m.Data) == 0 {
		return r, err
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return r, err
	}
	if r.Error != nil {
		return r, r.Error
	}
	return r, nil
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
