package backup

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

// Options configure a backup.
type Options struct {
	// Recipients are the public keys, such as age1..., whose holders can read the backup.
	Recipients []string
	// Gridhook is the version of the writer.
	Gridhook string
	Now      func() time.Time
}

// ErrRecipients says that a backup has no recipient, or an invalid public key.
var ErrRecipients = errors.New("a backup is encrypted: name at least one public key, such as age1..., that gridhook backup keygen makes")

// NewKey generates a key pair for backups. The private key decrypts them. The public key
// encrypts them.
func NewKey() (private, public string, err error) {
	k, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return k.String(), k.Recipient().String(), nil
}

// CheckRecipients returns an error if keys are not valid public keys.
func CheckRecipients(keys []string) error {
	_, err := recipients(keys)
	return err
}

func recipients(keys []string) ([]age.Recipient, error) {
	if len(keys) == 0 {
		return nil, ErrRecipients
	}
	var list []age.Recipient
	for _, key := range keys {
		r, err := age.ParseX25519Recipient(key)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRecipients, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// Write copies everything to w. After an error the output is unusable.
func Write(ctx context.Context, conn *jetstream.Conn, w io.Writer, o Options) error {
	to, err := recipients(o.Recipients)
	if err != nil {
		return err
	}
	sealed, err := age.Encrypt(w, to...)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(sealed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	b := &writer{tar: tar.NewWriter(packed), now: o.Now().UTC(), end: end{Streams: []Stream{}, Sums: map[string]string{}}, parts: map[string]*part{}}
	if err := b.write(ctx, conn, o); err != nil {
		return err
	}
	return errors.Join(b.tar.Close(), packed.Close(), sealed.Close())
}

// writer writes the file. Retries and tasks that arrive during the copy are added beside the
// stream that is copied then.
type writer struct {
	now   time.Time
	mu    sync.Mutex // held while messages are added
	tar   *tar.Writer
	end   end
	parts map[string]*part // by stream
	ended error            // the first error of add, or errEnded: nothing is added any more
}

var errEnded = errors.New("the backup has ended")

func (b *writer) write(ctx context.Context, conn *jetstream.Conn, o Options) error {
	manifest := Manifest{Format: format, Version: formatVersion, CreatedAt: b.now, Gridhook: o.Gridhook, Schema: storage.SchemaVersion}
	if err := b.json(manifestFile, manifest); err != nil {
		return err
	}
	for _, content := range jetstream.Contents() {
		b.parts[content.Stream] = &part{b: b, Stream: Stream{Name: content.Stream, Files: []string{}}}
	}
	stop, err := conn.WatchQueues(func(stream string, m jetstream.Raw) { _ = b.parts[stream].add(m) }) // finish has the error
	if err != nil {
		return err
	}
	stop = sync.OnceValue(stop)
	defer func() {
		_ = stop() // it fails if the connection is closed, and a message may arrive even then
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended = errEnded
	}()
	handled := map[string]uint64{}
	for _, content := range jetstream.Contents() {
		if handled[content.Stream], err = conn.Handled(ctx, content); err != nil {
			return err
		}
	}
	for _, content := range jetstream.Contents() {
		s := b.parts[content.Stream]
		if s.Last, err = conn.Copy(ctx, content, s.add); err == nil {
			err = s.flush()
		}
		if err == nil && content.Stream == jetstream.ReceiptsStream {
			err = stop() // no receipt refers to a later retry
		}
		if err != nil {
			return err
		}
		s.Handled = min(handled[content.Stream], s.Last)
	}
	return b.finish()
}

// finish writes the messages that arrived after the copy of their stream, and the end.
func (b *writer) finish() error {
	if b.ended != nil {
		return b.ended
	}
	for _, content := range jetstream.Contents() {
		s := b.parts[content.Stream]
		if err := s.flush(); err != nil {
			return err
		}
		b.end.Streams = append(b.end.Streams, s.Stream)
	}
	return b.json(endFile, b.end)
}

func (b *writer) json(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return b.file(name, append(text, '\n'))
}

func (b *writer) file(name string, data []byte) error {
	sum := sha256.Sum256(data)
	b.end.Sums[name] = hex.EncodeToString(sum[:])
	h := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: b.now, Format: tar.FormatPAX}
	if err := b.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := b.tar.Write(data)
	return err
}

// part splits the messages of one stream into files.
type part struct {
	Stream
	b     *writer
	lines bytes.Buffer
}

// fileSize is the approximate maximum size of a file, in bytes.
const fileSize = 4 << 20

// add adds a message. After an error it adds nothing more.
func (s *part) add(m jetstream.Raw) error {
	text, err := json.Marshal(m)
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.b.ended = cmp.Or(s.b.ended, err); s.b.ended != nil {
		return s.b.ended
	}
	s.lines.Write(text)
	s.lines.WriteByte('\n')
	if s.Messages == 0 {
		s.First = m.Sequence
	}
	s.Messages++
	s.Bytes += uint64(len(m.Subject) + len(m.Data))
	if s.lines.Len() >= fileSize {
		s.b.ended = s.flushLocked()
	}
	return s.b.ended
}

// flush writes the messages that are not written yet.
func (s *part) flush() error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	return s.flushLocked()
}

func (s *part) flushLocked() error {
	if s.lines.Len() == 0 {
		return nil
	}
	name := fmt.Sprintf("%s%s/%05d.jsonl", streamFolder, s.Name, len(s.Files)+1)
	s.Files = append(s.Files, name)
	err := s.b.file(name, s.lines.Bytes())
	s.lines.Reset()
	return err
}
