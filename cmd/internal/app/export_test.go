package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/config"
)

// HoldBackups simulates a running backup until release is called.
func (a *App) HoldBackups() (release func()) {
	a.backingUp.Lock()
	return a.backingUp.Unlock
}

// MQTTAddress returns the address of the MQTT listener.
func (a *App) MQTTAddress() string { return fmt.Sprint("127.0.0.1:", a.embedded.MQTTPort()) }

// CompactStore starts the compaction of a start at the given time.
func CompactStore(ctx context.Context, o Options, now time.Time) error {
	return (&App{Options: o}).compactStore(ctx, now)
}

// NoteErasure notes when the store in a data folder is due for a compaction.
func NoteErasure(data string, by time.Time) error {
	return (&App{Options: Options{Config: config.Config{Data: data}}}).noteErasure(by)
}

// PublishState writes to the log of record like another process.
func (a *App) PublishState(ctx context.Context, subject, value string) error {
	nc, err := nats.Connect("", a.embedded.Option())
	if err != nil {
		return err
	}
	defer nc.Close()
	_, err = nc.RequestWithContext(ctx, "gridhook.state."+subject, []byte(value))
	return err
}

// Certificates returns the function that returns the certificate of a key pair.
func Certificates(p config.KeyPair, log *slog.Logger) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	c := &certificate{pair: p, log: log}
	return c.get, c.load(c.stamp())
}

// CountStale counts the stale organizations now.
func (a *App) CountStale() error { return a.setStale(time.Now()) }

// AwaitState returns when reads include a revision.
func (a *App) AwaitState(ctx context.Context, revision uint64) error {
	return a.store.WaitFor(ctx, revision)
}
