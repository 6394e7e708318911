package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/gridhook/gridhook/events/jetstream"
)

// Backup is a file whose contents Open has verified.
type Backup struct {
	Manifest Manifest `json:"manifest"`
	Streams  []Stream `json:"streams"`

	// Progress, if not nil, is called at intervals during Restore. stream is the current
	// stream, and messages counts the messages of all streams so far.
	Progress func(stream string, messages uint64) `json:"-"`

	restored   uint64
	path       string
	identities []age.Identity
}

// Messages returns the number of messages in the backup.
func (b *Backup) Messages() (n uint64) {
	for i := range b.Streams {
		n += b.Streams[i].Messages
	}
	return n
}

// Open reads a whole backup with one or more private keys, one key a line, and checks
// every sum. It restores nothing.
func Open(path, keys string) (*Backup, error) {
	identities, err := age.ParseIdentities(strings.NewReader(keys))
	if err != nil {
		return nil, fmt.Errorf("the backup's key was not made by gridhook backup keygen: %w", err)
	}
	b := &Backup{path: path, identities: identities}
	var last end
	sums := map[string]string{}
	for f, err := range b.files() {
		if err == nil {
			err = b.take(f, sums, &last)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case last.Sums == nil:
		return nil, fmt.Errorf("%w: it is truncated", ErrNotReadable)
	case !maps.Equal(sums, last.Sums):
		return nil, fmt.Errorf("%w: a checksum does not match", ErrNotReadable)
	}
	b.Streams = last.Streams
	return b, nil
}

// take reads the manifest or the end, and adds the sums of all files except the end.
func (b *Backup) take(f file, sums map[string]string, last *end) error {
	switch {
	case f.name == endFile:
		return json.Unmarshal(f.data, last)
	case len(sums) > 0:
	case f.name != manifestFile:
		return fmt.Errorf("%w: its first file is not the manifest", ErrNotReadable)
	default:
		if err := json.Unmarshal(f.data, &b.Manifest); err != nil {
			return fmt.Errorf("%w: %w", ErrNotReadable, err)
		}
		if err := b.Manifest.check(); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(f.data)
	sums[f.name] = hex.EncodeToString(sum[:])
	return nil
}

// file is a file inside the backup.
type file struct {
	name string
	data []byte
}

// files iterates over the files inside the backup.
func (b *Backup) files() iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		if err := b.eachFile(func(f file) (more bool) { return yield(f, nil) }); err != nil {
			yield(file{}, err)
		}
	}
}

// eachFile calls take for the files inside the backup until take returns false.
func (b *Backup) eachFile(take func(file) (more bool)) error {
	f, err := os.Open(b.path) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	opened, err := age.Decrypt(f, b.identities...)
	switch {
	case errors.As(err, new(*age.NoIdentityMatchError)):
		return fmt.Errorf("%w: it is encrypted for another key", ErrNotReadable)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotReadable, err)
	}
	unpacked, err := gzip.NewReader(opened)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotReadable, err)
	}
	for in := tar.NewReader(unpacked); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotReadable, err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotReadable, err)
		}
		if !take(file{h.Name, data}) {
			return nil
		}
	}
}

// messages iterates over the messages of a stream, in order, and reports the progress every
// 1000 messages.
func (b *Backup) messages(s *Stream) iter.Seq2[jetstream.Raw, error] {
	const often = 1000
	return func(yield func(jetstream.Raw, error) bool) {
		left := len(s.Files)
		if left == 0 {
			return
		}
		for f, err := range b.files() {
			if err != nil {
				yield(jetstream.Raw{}, err)
				return
			}
			if !slices.Contains(s.Files, f.name) {
				continue
			}
			for in := json.NewDecoder(bytes.NewReader(f.data)); in.More(); {
				var m jetstream.Raw
				if err := in.Decode(&m); !yield(m, err) || err != nil {
					return
				}
				if b.restored++; b.Progress != nil && b.restored%often == 0 {
					b.Progress(s.Name, b.restored)
				}
			}
			if left--; left == 0 {
				return
			}
		}
	}
}
