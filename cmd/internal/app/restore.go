package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events/backup"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
)

// Restore puts a backup back: into the data folder of a serve that does not run, or
// into an external NATS that no Gridhook is on. Where there is something already it
// refuses, unless it is told to replace that.
func Restore(ctx context.Context, o Options, b *backup.Backup, replace bool) (err error) {
	if o.Role != RoleServe {
		return restoreInto(ctx, o.NATS, o.NATSOptions, o, b, replace)
	}
	a := &App{Options: o}
	if err := a.lockData(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Stop()) }()
	return a.restoreEmbedded(ctx, b, replace)
}

// stores are the folders of the embedded server's files: its own, one that a restore
// fills, and one that a restore has set aside.
type stores struct{ data, own, fresh, replaced string }

func storesIn(data string) stores {
	own := filepath.Join(data, natsFolder)
	return stores{data, own, own + ".restoring", own + ".replaced"}
}

// checkWhole refuses a data folder in which a restore was cut off: an empty store in the
// place of its own would look as if all were lost.
func (s stores) checkWhole() error {
	if there(s.own) {
		return nil
	}
	const again = "a restore into %s was cut off: run gridhook restore again, "
	switch {
	case there(s.replaced):
		return fmt.Errorf(again+"with --replace, or rename %s to %s for what was there before", s.data, s.replaced, natsFolder)
	case there(s.fresh):
		return fmt.Errorf(again+"or delete %s to begin with nothing", s.data, s.fresh)
	}
	return nil
}

// there reports whether there is something at a path, or may be.
func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// restoreEmbedded puts everything into a folder beside the server's own, which takes
// its place when it is whole.
func (a *App) restoreEmbedded(ctx context.Context, b *backup.Backup, replace bool) error {
	s := storesIn(a.Data)
	if (there(s.own) || there(s.replaced)) && !replace {
		return fmt.Errorf("%w, in %s: --replace deletes it", backup.ErrExists, a.Data)
	}
	if err := os.RemoveAll(s.fresh); err != nil { // of a restore that was cut off
		return err
	}
	server, err := embedded.Start(embedded.Options{Dir: s.fresh, MaxStore: a.MaxStore, StartTimeout: startWait, Log: a.Log})
	if err != nil {
		return err
	}
	err = restoreInto(ctx, "", []nats.Option{server.Option()}, a.Options, b, false)
	if err = errors.Join(err, server.Stop(30*time.Second)); err != nil {
		return errors.Join(err, os.RemoveAll(s.fresh))
	}
	return s.exchange()
}

// exchange puts the fresh store in the place of the server's own. Wherever it is cut
// off, one of them is whole, and the next start or restore sees which.
func (s stores) exchange() error {
	if there(s.own) {
		if err := os.RemoveAll(s.replaced); err != nil { // of a restore that was cut off after it was done
			return err
		}
		if err := os.Rename(s.own, s.replaced); err != nil {
			return err
		}
	}
	// The views are of what was there before.
	for _, view := range []string{"state.db", "ledger.db"} {
		if err := os.RemoveAll(filepath.Join(s.data, view)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Rename(s.fresh, s.own), syncFolder(s.data)); err != nil {
		return err
	}
	return os.RemoveAll(s.replaced)
}

func restoreInto(ctx context.Context, url string, opts []nats.Option, o Options, b *backup.Backup, replace bool) error {
	streams := o.Streams
	streams.Replicas = max(streams.Replicas, 1)
	conn, err := jetstream.ConnectBare(url, o.Log, opts...)
	if err != nil {
		return err
	}
	err = b.Restore(ctx, conn, streams, replace)
	return errors.Join(err, conn.Close())
}

// syncFolder makes what was renamed in a folder survive a power cut.
func syncFolder(path string) error {
	f, err := os.Open(path) //nolint:gosec // the data folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
