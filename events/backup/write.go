package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
	// Folder holds a temporary file without a name. It records retries that arrive during
	// the copy.
	Folder string
	Now    func() time.Time
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
	b := &writer{tar: tar.NewWriter(packed), now: o.Now().UTC(), end: end{Streams: []Stream{}, Sums: map[string]string{}}}
	if err := b.write(ctx, conn, o); err != nil {
		return err
	}
	return errors.Join(b.tar.Close(), packed.Close(), sealed.Close())
}

type writer struct {
	tar *tar.Writer
	now time.Time
	end end
}

func (b *writer) write(ctx context.Context, conn *jetstream.Conn, o Options) error {
	manifest := Manifest{Format: format, Version: formatVersion, CreatedAt: b.now, Gridhook: o.Gridhook, Schema: storage.SchemaVersion}
	if err := b.json(manifestFile, manifest); err != nil {
		return err
	}
	noted, err := note(conn, o.Folder)
	if err != nil {
		return err
	}
	defer noted.close()
	handled := map[string]uint64{}
	for _, content := range jetstream.Contents() {
		if handled[content.Stream], err = conn.Handled(ctx, content); err != nil {
			return err
		}
	}
	for _, content := range jetstream.Contents() {
		s := &part{b: b, Stream: Stream{Name: content.Stream, Files: []string{}}}
		last, err := conn.Copy(ctx, content, s.add)
		if err == nil {
			err = s.flush()
		}
		if err != nil {
			return err
		}
		s.Last, s.Handled = last, min(handled[content.Stream], last)
		b.end.Streams = append(b.end.Streams, s.Stream)
		if content.Stream == jetstream.ReceiptsStream {
			if err := b.addNoted(noted); err != nil {
				return err
			}
		}
	}
	return b.json(endFile, b.end)
}

// addNoted adds the retries and tasks that arrived while the queues and the receipts were
// copied.
func (b *writer) addNoted(n *notes) error {
	if err := n.stop(); err != nil {
		return err
	}
	for i := range b.end.Streams {
		s := &part{b: b, Stream: b.end.Streams[i]}
		if err := n.each(s.Name, s.add); err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
		b.end.Streams[i] = s.Stream
	}
	return nil
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

func (s *part) add(m jetstream.Raw) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	s.lines.Write(text)
	s.lines.WriteByte('\n')
	if s.Messages == 0 {
		s.First = m.Sequence
	}
	s.Messages++
	s.Bytes += uint64(len(m.Subject) + len(m.Data))
	if s.lines.Len() < fileSize {
		return nil
	}
	return s.flush()
}

func (s *part) flush() error {
	if s.lines.Len() == 0 {
		return nil
	}
	name := fmt.Sprintf("%s%s/%05d.jsonl", streamFolder, s.Name, len(s.Files)+1)
	s.Files = append(s.Files, name)
	err := s.b.file(name, s.lines.Bytes())
	s.lines.Reset()
	return err
}

// notes records the retries and tasks that arrive during the copy. It uses a file, as
// there may be many.
type notes struct {
	file *os.File
	stop func() error

	mu     sync.Mutex
	out    *json.Encoder
	failed error
}

func note(conn *jetstream.Conn, folder string) (*notes, error) {
	file, err := os.CreateTemp(folder, "backup-")
	if err != nil {
		return nil, err
	}
	n := &notes{file: file, out: json.NewEncoder(file)}
	if err := os.Remove(file.Name()); err != nil { // the file lives until it is closed
		return nil, errors.Join(err, file.Close())
	}
	stop, err := conn.WatchQueues(n.take)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	n.stop = sync.OnceValue(stop)
	return n, nil
}

// noted is a message with the name of its stream.
type noted struct {
	Stream string `json:"stream"`
	jetstream.Raw
}

func (n *notes) take(stream string, m jetstream.Raw) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed == nil {
		n.failed = n.out.Encode(noted{stream, m})
	}
}

// each calls apply for the recorded messages of a stream. Call stop first.
func (n *notes) each(stream string, apply func(jetstream.Raw) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed != nil {
		return n.failed
	}
	if _, err := n.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for in := json.NewDecoder(n.file); ; {
		var l noted
		switch err := in.Decode(&l); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case l.Stream != stream:
			continue
		}
		if err := apply(l.Raw); err != nil {
			return err
		}
	}
}

func (n *notes) close() {
	_ = n.stop()
	_ = n.file.Close() // nobody reads the file after this
}
