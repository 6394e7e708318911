package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// ErrNewerSchema says that STATE was written by a newer Gridhook than this one.
var ErrNewerSchema = errors.New("this Gridhook is too old for its state")

// TakeSchema makes sure that this Gridhook can read STATE, and says in it that it
// writes it: from then on those that are older refuse to start, and those that run
// end. Errors: ErrNewerSchema.
func (c *Conn) TakeSchema(ctx context.Context) error {
	for {
		version, revision, err := c.schema(ctx)
		switch {
		case err != nil:
			return err
		case version > storage.SchemaVersion:
			return newer(version)
		case version == storage.SchemaVersion:
			return nil
		}
		if err := c.putSchema(ctx, revision); !errors.Is(err, storage.ErrConflict) {
			return err
		}
		// Somebody else has taken it meanwhile.
	}
}

func newer(version int) error {
	return fmt.Errorf("%w, which has schema %d where this one knows up to %d: start the newer Gridhook that wrote it, or restore a backup from before that one",
		ErrNewerSchema, version, storage.SchemaVersion)
}

// schema is what STATE says of itself, 0 where it says nothing.
func (c *Conn) schema(ctx context.Context) (version int, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.publishWait)
	defer cancel()
	s, err := c.js.Stream(ctx, stateStream)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, stateSubject(storage.SchemaRef()))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, 0, nil
	case err != nil:
		return 0, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	var e envelope
	err = json.Unmarshal(m.Data, &e)
	return e.Version, m.Sequence, err
}

func (c *Conn) putSchema(ctx context.Context, expect uint64) error {
	now := storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)}
	s := storage.Schema{ID: storage.SchemaRef().ID, Version: storage.SchemaVersion, Base: storage.Base{CreatedAt: now, UpdatedAt: now}}
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = c.StateLog().Append(ctx, storage.Write{Ref: storage.SchemaRef(), Expect: expect, At: now.Time, Value: value})
	return err
}
