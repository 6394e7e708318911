package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/backup"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
)

// Restore restores a backup into the data folder of a stopped serve, or into an external
// NATS without a running Gridhook. If the target has data, Restore returns an error
// unless replace is set.
func Restore(ctx context.Context, o Options, b *backup.Backup, replace bool) (err error) {
	if o.Role != config.Serve {
		return restoreInto(ctx, o.NATS.URL, NATSOptions(o.NATS), o, b, replace)
	}
	a := &App{Options: o}
	if err := a.lockData(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Stop()) }()
	return a.restoreEmbedded(ctx, b, replace)
}

// stores holds the folders of the embedded server's files: the server's own, the target
// of a restore, and the folder that a restore replaced.
type stores struct{ data, own, fresh, replaced string }

func storesIn(data string) stores {
	own := filepath.Join(data, natsFolder)
	return stores{data, own, own + ".restoring", own + ".replaced"}
}

// recover finishes an exchange that was interrupted between its moves. It returns an error
// if a restore into the data folder was interrupted earlier. Without the check, an empty
// store would look like total data loss.
func (s stores) recover() error {
	if exists(s.own) {
		return nil
	}
	const again = "a restore into %s was interrupted: run gridhook restore again, "
	switch {
	case exists(s.replaced) && exists(s.fresh): // the exchange begins when the fresh store is complete
		return s.exchange()
	case exists(s.replaced):
		return fmt.Errorf(again+"with --replace, or rename %s to %s to keep the previous data", s.data, s.replaced, natsFolder)
	case exists(s.fresh):
		return fmt.Errorf(again+"or delete %s to start empty", s.data, s.fresh)
	}
	return nil
}

// exists reports whether a path exists or may exist.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// restoreEmbedded restores into a folder beside the server's own. The new folder replaces
// the server's when it is complete.
func (a *App) restoreEmbedded(ctx context.Context, b *backup.Backup, replace bool) error {
	s := storesIn(a.Data)
	if (exists(s.own) || exists(s.replaced)) && !replace {
		return fmt.Errorf("%w in %s: --replace deletes them after the restore", backup.ErrExists, a.Data)
	}
	// The fresh store is incomplete from here on, so the server needs its own store.
	if !exists(s.own) && exists(s.replaced) {
		if err := errors.Join(os.Rename(s.replaced, s.own), SyncFolder(s.data)); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.fresh); err != nil { // left by an interrupted restore
		return err
	}
	server, err := embedded.Start(embedded.Options{Dir: s.fresh, MaxStore: int64(a.MaxStore), StartTimeout: startTimeout, Log: a.Log})
	if err != nil {
		return err
	}
	err = restoreInto(ctx, "", []nats.Option{server.Option()}, a.Options, b, false)
	if err = errors.Join(err, server.Stop(30*time.Second)); err != nil {
		return errors.Join(err, os.RemoveAll(s.fresh))
	}
	return s.exchange()
}

// exchange replaces the server's own store with the fresh store. At any interruption one
// of them is complete, and the next start or restore detects which.
func (s stores) exchange() error {
	if exists(s.own) {
		if err := os.RemoveAll(s.replaced); err != nil { // left by a restore that was interrupted after its exchange
			return err
		}
		if err := errors.Join(os.Rename(s.own, s.replaced), SyncFolder(s.data)); err != nil {
			return err
		}
	}
	// The replicas belong to the replaced store.
	for _, view := range []string{stateFile, "ledger.db"} {
		if err := os.RemoveAll(filepath.Join(s.data, view)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Rename(s.fresh, s.own), SyncFolder(s.data)); err != nil {
		return err
	}
	return os.RemoveAll(s.replaced)
}

func restoreInto(ctx context.Context, url string, opts []nats.Option, o Options, b *backup.Backup, replace bool) error {
	streams := StreamOptions(o.Config)
	conn, err := jetstream.ConnectBare(url, streams, o.Log, opts...)
	if err != nil {
		return err
	}
	err = b.Restore(ctx, conn, streams, replace)
	return errors.Join(err, conn.Close())
}

// SyncFolder makes renames in a folder survive a power cut.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // it cannot sync a folder
	}
	f, err := os.Open(path) //nolint:gosec // the data folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
