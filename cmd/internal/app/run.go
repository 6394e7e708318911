package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/cmd/internal/tracing"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events/jetstream"
)

// Run runs one process as it was configured until ctx ends or a part fails, and
// stops it again. It says on out where it listens, and logs to standard error.
func Run(ctx context.Context, cfg config.Config, version string, out io.Writer) error {
	o := OptionsOf(cfg)
	o.Version, o.Log = version, newLog(cfg, os.Stderr)
	if err := LimitMemory(int64(cfg.MemoryLimit)); err != nil {
		return err
	}
	a, err := Start(ctx, o)
	if err != nil {
		return err
	}
	a.announce(out)
	o.Log.Info("ready", "role", o.Role, "version", version, "api", a.httpAddr, "admin", a.adminAddr)
	err = a.Wait(ctx)
	o.Log.Info("stopping", "reason", reason(err))
	err = errors.Join(err, a.Stop())
	o.Log.Info("stopped")
	return err
}

func reason(err error) string {
	if err != nil {
		return err.Error()
	}
	return "a signal"
}

// announce says in words for people, and in a form that scripts can read, where
// the process listens. The last line begins with "ready".
func (a *App) announce(out io.Writer) {
	say := func(name, value string) { _, _ = fmt.Fprintf(out, "%-13s %s\n", name, value) } // nobody may be reading
	if a.Role.answers() {
		say("API", a.URL())
	}
	say("admin", a.AdminURL()+"  (metrics, health checks"+map[bool]string{true: ", the operator's API"}[a.Role.answers()]+")")
	say("data", a.Data)
	if (a.Role.answers() || a.Profiles) && a.OperatorKey == "" {
		say("operator key", "in "+filepath.Join(a.Data, OperatorKeyFile))
	}
	say("ready", "Gridhook "+string(a.Role)+" "+a.Version+"; stop it with Ctrl-C")
}

// OptionsOf takes from the configuration what the parts are told.
func OptionsOf(cfg config.Config) Options {
	return Options{
		Role: Role(cfg.Role), Data: cfg.Data, HTTP: cfg.HTTP, Admin: cfg.Admin, OperatorKey: cfg.OperatorKey,
		MasterKey: cfg.MasterKey, MasterKeyFile: cfg.MasterKeyFile,
		TLS: KeyPair{cfg.TLS.Certificate, cfg.TLS.Key}, AdminTLS: KeyPair{cfg.AdminTLS.Certificate, cfg.AdminTLS.Key},
		NATS: cfg.NATS.URL, NATSOptions: NATSOptions(cfg.NATS), MaxStore: int64(cfg.MaxStore),
		Streams: StreamOptions(cfg),
		Worker: dispatcher.Options{
			Slices: cfg.Worker.Slices, Concurrency: cfg.Worker.Concurrency, EndpointConcurrency: cfg.Worker.EndpointConcurrency,
			DrainTimeout: cfg.Worker.DrainTimeout, AllowPrivate: cfg.AllowPrivate, TracedRequests: cfg.Traces.Requests,
		},
		Curves: cfg.Curves, Profiles: cfg.Profiles,
		Traces: tracing.Options{Endpoint: cfg.Traces.Endpoint, Headers: config.HeaderPairs(cfg.Traces.Headers), Sample: cfg.Traces.Sample},
		Limits: limitsOf(cfg),
	}
}

// StreamOptions say how the streams are kept.
func StreamOptions(cfg config.Config) jetstream.Options {
	return jetstream.Options{Replicas: cfg.NATS.Replicas, TriggersAge: cfg.TriggersAge, ReceiptsAge: cfg.ReceiptsAge}
}

func limitsOf(cfg config.Config) Limits {
	l := cfg.Limits
	return Limits{
		Requests: api.Options{
			MaxBody: int64(l.MaxBody), MaxImportBody: int64(l.MaxImport), MaxDepth: l.MaxDepth, Rate: l.RateLimit, Burst: l.RateBurst,
			FeedbackRate: l.FeedbackRate, FeedbackBurst: l.FeedbackBurst, Timeout: l.RequestTimeout,
			Origins: strings.FieldsFunc(cfg.CORSOrigins, func(r rune) bool { return r == ',' || r == ' ' }),
		},
		Estimates: l.Estimates,
		Connections: api.Connections{
			HeaderTimeout: l.HeaderTimeout, ReadTimeout: l.ReadTimeout, WriteTimeout: l.WriteTimeout, IdleTimeout: l.IdleTimeout,
			MaxHeaders: int(l.MaxHeaders),
		},
	}
}

// NATSOptions are the credentials and the TLS of a connection to NATS.
func NATSOptions(c config.NATS) []nats.Option {
	var opts []nats.Option
	if c.Credentials != "" {
		opts = append(opts, nats.UserCredentials(c.Credentials))
	}
	if c.CA != "" {
		opts = append(opts, nats.RootCAs(c.CA))
	}
	if c.Certificate != "" {
		opts = append(opts, nats.ClientCert(c.Certificate, c.Key))
	}
	return opts
}

func newLog(cfg config.Config, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == config.LogText {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}
