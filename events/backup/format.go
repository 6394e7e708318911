package backup

import (
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

// Names of the files inside a backup.
const (
	manifestFile = "manifest.json"
	endFile      = "end.json"
	streamFolder = "streams/"
)

// A manifest begins with format and formatVersion. The version rises when an older
// Gridhook cannot read a newer backup.
const (
	format        = "gridhook-backup"
	formatVersion = 1
)

// Manifest describes a backup.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// CreatedAt is the start time of the backup.
	CreatedAt time.Time `json:"createdAt"`
	// Gridhook is the version of the writer. Schema is the schema version of the state.
	Gridhook string `json:"gridhook"`
	Schema   int    `json:"schema"`
}

// ErrNotReadable says that a file is not a backup, or is unreadable.
var ErrNotReadable = errors.New("the backup cannot be read")

func (m *Manifest) check() error {
	switch {
	case m.Format != format:
		return fmt.Errorf("%w: the file is no backup of Gridhook", ErrNotReadable)
	case m.Version > formatVersion:
		return fmt.Errorf("%w: it has format %d, and this version reads up to format %d: use a newer Gridhook", ErrNotReadable, m.Version, formatVersion)
	case m.Schema > storage.SchemaVersion:
		return fmt.Errorf("%w: its state has schema %d, and this version reads up to schema %d: use a newer Gridhook", ErrNotReadable, m.Schema, storage.SchemaVersion)
	}
	return nil
}

// end is the summary that Write appends after copying everything.
type end struct {
	Streams []Stream `json:"streams"`
	// Sums are the SHA-256 sums of the files, in hexadecimal.
	Sums map[string]string `json:"sha256"`
}

// Stream describes one stream in a backup.
type Stream struct {
	Name string `json:"name"`
	jetstream.Extent
	// Files lists the files in message order.
	Files []string `json:"files"`
}
