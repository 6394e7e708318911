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
	err = b.files(func(name string, data []byte) error {
		switch {
		case len(sums) == 0 && name != manifestFile:
			return fmt.Errorf("%w: its first file is not the manifest", ErrNotReadable)
		case len(sums) == 0:
			if err := json.Unmarshal(data, &b.Manifest); err != nil {
				return fmt.Errorf("%w: %w", ErrNotReadable, err)
			}
			if err := b.Manifest.check(); err != nil {
				return err
			}
		case name == endFile:
			return json.Unmarshal(data, &last)
		}
		sum := sha256.Sum256(data)
		sums[name] = hex.EncodeToString(sum[:])
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case last.Sums == nil:
		return nil, fmt.Errorf("%w: it is truncated", ErrNotReadable)
	case !maps.Equal(sums, last.Sums):
		return nil, fmt.Errorf("%w: a checksum does not match", ErrNotReadable)
	}
	b.Streams = last.Streams
	return b, nil
}

// errEnough stops files early.
var errEnough = errors.New("enough")

// files calls take for each file inside the backup.
func (b *Backup) files(take func(name string, data []byte) error) (err error) {
	f, err := os.Open(b.path) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	opened, err := age.Decrypt(f, b.identities...)
	var notForUs *age.NoIdentityMatchError
	switch {
	case errors.As(err, &notForUs):
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
		switch err := take(h.Name, data); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
}

// messages calls take for each message of a stream, in order.
func (b *Backup) messages(s *Stream, take func(jetstream.Raw) error) error {
	left := len(s.Files)
	if left == 0 {
		return nil
	}
	return b.files(func(name string, data []byte) error {
		if !slices.Contains(s.Files, name) {
			return nil
		}
		for in := json.NewDecoder(bytes.NewReader(data)); ; {
			var l line
			err := in.Decode(&l)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = take(l.raw())
			}
			if err != nil {
				return err
			}
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	})
}
