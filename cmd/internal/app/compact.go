package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/embedded"
)

// compactionFile is a file in the embedded server's folder. It belongs to the files beside
// it: a compacted or restored store starts without it.
const compactionFile = "compaction.json"

// compactionRetry is the time between two attempts to compact a store. A start that the
// service manager ends for its duration must not be repeated at once.
const compactionRetry = 24 * time.Hour

// compaction is the content of compactionFile, zero without a file.
type compaction struct {
	// Due is when everything of a deleted organization has passed its retention, the
	// earliest of several. The files still have bytes of it: earlier versions of records,
	// and expired messages.
	Due time.Time `json:"due"`
	// RetryAt is the time of the next attempt, set before each attempt.
	RetryAt time.Time `json:"retryAt,omitzero"`
}

// CompactionDue reports whether the store in a data folder has bytes of deleted
// organizations that a start of serve will leave behind.
func CompactionDue(data string, now time.Time) (bool, error) {
	c, err := readCompaction(data)
	return c.isDue(now), err
}

func (c compaction) isDue(now time.Time) bool { return !c.Due.IsZero() && !now.Before(c.Due) }

// readCompaction reads the file of a data folder. A damaged file counts as due.
func readCompaction(data string) (c compaction, err error) {
	text, err := os.ReadFile(filepath.Join(data, natsFolder, compactionFile)) //nolint:gosec // the path is ours
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && json.Unmarshal(text, &c) != nil {
		c = compaction{Due: time.Unix(0, 0)}
	}
	return c, err
}

func (c compaction) write(data string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := filepath.Join(data, natsFolder, compactionFile)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the path is ours
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil { // a renamed file may be empty after a power cut otherwise
		return err
	}
	return errors.Join(os.Rename(path+".new", path), SyncFolder(filepath.Dir(path)))
}

// noteErasure has the first start after the given time compact the store.
func (a *App) noteErasure(by time.Time) error {
	c, err := readCompaction(a.Data)
	if err != nil || !c.Due.IsZero() && !by.Before(c.Due) {
		return err
	}
	c.Due = by
	return c.write(a.Data)
}

// prepareStore checks the store of the embedded server and compacts it if that is due.
func (a *App) prepareStore(ctx context.Context) error {
	if a.Role != config.Serve {
		return nil
	}
	s := storesIn(a.Data)
	if err := s.recover(); err != nil {
		return err
	}
	// A replaced store may have bytes of deleted organizations.
	if err := errors.Join(os.RemoveAll(s.replaced), os.RemoveAll(s.fresh)); err != nil {
		a.Log.Error("leftover store of an interrupted restore or compaction not deleted", "error", err)
	}
	return a.compactStore(ctx, time.Now())
}

// compactStore copies the store into new files once everything of a deleted organization
// has passed its retention. Marks of later deletions are still in the log, so the new
// replica notes them for the new files. A failed attempt does not fail the start.
func (a *App) compactStore(ctx context.Context, now time.Time) error {
	s := storesIn(a.Data)
	c, err := readCompaction(a.Data)
	if err != nil || !c.isDue(now) || now.Before(c.RetryAt) {
		return err
	}
	c.RetryAt = now.Add(compactionRetry)
	if err := errors.Join(c.write(a.Data), os.RemoveAll(s.fresh)); err != nil { // left by an interrupted copy
		return err
	}
	began := time.Now()
	a.Log.Info("compacting the store", "due", c.Due)
	err = embedded.Compact(ctx, embedded.Options{Dir: s.own, StartTimeout: startTimeout, Log: a.Log}, s.fresh)
	if err != nil {
		a.Log.Error("store not compacted, bytes of deleted organizations remain", "retryAt", c.RetryAt, "error", err)
		return os.RemoveAll(s.fresh)
	}
	a.Log.Info("store compacted, no byte of deleted organizations remains", "ms", time.Since(began).Milliseconds())
	return s.exchange()
}
