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

// restoreEmbedded puts everything into a folder beside the server's own, which takes
// its place when it is whole.
func (a *App) restoreEmbedded(ctx context.Context, b *backup.Backup, replace bool) error {
	own := filepath.Join(a.Data, natsFolder)
	fresh := own + ".restoring"
	switch _, err := os.Stat(own); {
	case err == nil && !replace:
		return fmt.Errorf("%w, in %s: --replace deletes it", backup.ErrExists, a.Data)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.RemoveAll(fresh); err != nil { // of a restore that was cut off
		return err
	}
	server, err := embedded.Start(embedded.Options{Dir: fresh, MaxStore: a.MaxStore, StartTimeout: startWait, Log: a.Log})
	if err != nil {
		return err
	}
	err = restoreInto(ctx, "", []nats.Option{server.Option()}, a.Options, b, false)
	if err = errors.Join(err, server.Stop(30*time.Second)); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	// The views are of what was there before.
	for _, name := range []string{own, filepath.Join(a.Data, "state.db"), filepath.Join(a.Data, "ledger.db")} {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, own); err != nil {
		return err
	}
	return syncFolder(a.Data)
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
