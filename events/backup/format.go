package backup

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/storage"
)

// The names of the files inside.
const (
	manifestFile = "manifest.json"
	endFile      = "end.json"
	streamFolder = "streams/"
)

// format and formatVersion are what a manifest begins with. The version rises when
// an older Gridhook could not read what a newer one writes.
const (
	format        = "gridhook-backup"
	formatVersion = 1
)

// Manifest says what a backup is.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// CreatedAt is when it was begun.
	CreatedAt time.Time `json:"createdAt"`
	// Gridhook is the version that wrote it, and Schema that of the state in it.
	Gridhook string `json:"gridhook"`
	Schema   int    `json:"schema"`
}

// ErrNotReadable says that a file is no backup, or none that can be read.
var ErrNotReadable = errors.New("the backup cannot be read")

func (m *Manifest) check() error {
	switch {
	case m.Format != format:
		return fmt.Errorf("%w: it is none of Gridhook's", ErrNotReadable)
	case m.Version > formatVersion:
		return fmt.Errorf("%w: it has format %d, and this Gridhook knows up to %d: use a newer one", ErrNotReadable, m.Version, formatVersion)
	case m.Schema > storage.SchemaVersion:
		return fmt.Errorf("%w: its state has schema %d, and this Gridhook knows up to %d: use a newer one", ErrNotReadable, m.Schema, storage.SchemaVersion)
	}
	return nil
}

// end is what is known when everything is copied.
type end struct {
	Streams []Stream `json:"streams"`
	// Sums are the SHA-256 of the files, in hexadecimal.
	Sums map[string]string `json:"sha256"`
}

// Stream is one stream's part.
type Stream struct {
	Name string `json:"name"`
	// First and Last are sequences, First that of the first message.
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	// Handled is up to which sequence messages need not be handled again.
	Handled uint64 `json:"handled,omitempty"`
	// Files are in the order in which the messages are.
	Files []string `json:"files"`
}

// line is a message as a file has it.
type line struct {
	Sequence uint64      `json:"seq,omitempty"`
	Time     time.Time   `json:"at"`
	Subject  string      `json:"subject"`
	Header   nats.Header `json:"header,omitempty"`
	Data     []byte      `json:"data"`
}
