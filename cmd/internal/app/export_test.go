package app

import (
	"context"
	"crypto/tls"
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

// Certificates returns the configuration of a key pair with the test's clock.
func Certificates(p config.KeyPair, now func() time.Time) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	c := &certificate{pair: p, log: slog.New(slog.DiscardHandler), now: now}
	return c.get, c.load(c.stamp())
}
