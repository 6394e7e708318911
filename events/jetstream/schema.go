package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// ErrNewerSchema says that a newer Gridhook wrote STATE.
var ErrNewerSchema = errors.New("a newer Gridhook wrote the stored state")

// TakeSchema checks that this Gridhook can read STATE, and records its own schema version
// in STATE. From then on, older versions refuse to start, and running older versions end.
// Errors: ErrNewerSchema.
func (c *Conn) TakeSchema(ctx context.Context) error {
	for {
		recorded, revision, err := lastValue[envelope](ctx, c, stateStream, stateSubject(storage.SchemaRef()))
		switch version := recorded.Version; { // 0 if there is no record
		case err != nil:
			return err
		case version > storage.SchemaVersion:
			return newer(version)
		case version == storage.SchemaVersion:
			return nil
		}
		value := fmt.Appendf(nil, `{"version":%d}`, storage.SchemaVersion) // the envelope has the version too
		_, err = c.StateLog().Append(ctx, storage.Write{Ref: storage.SchemaRef(), Expect: revision, At: time.Now(), Value: value})
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		// Another process has changed the schema record. Read it again.
	}
}

func newer(version int) error {
	return fmt.Errorf("%w: it has schema %d, and this version reads up to schema %d: start the newer version, or restore a backup from before the upgrade",
		ErrNewerSchema, version, storage.SchemaVersion)
}
