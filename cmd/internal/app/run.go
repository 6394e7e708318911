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

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/cmd/internal/tracing"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/jetstream"
)

// Run runs one process with its configuration until ctx ends or a part fails, and then
// stops it. It writes the addresses to out and logs to standard error.
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
	tell := func(state string) {
		if err := notifySystemd(context.WithoutCancel(ctx), state); err != nil {
			o.Log.Warn("systemd cannot be told the state", "state", state, "error", err)
		}
	}
	tell(stateReady)
	err = a.Wait(ctx)
	tell(stateStopping)
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

// announce prints the addresses in a form for people and scripts. The last line begins
// with "ready".
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

// OptionsOf converts the configuration to the parts' options.
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
			Allowed: send.Allowed{Ranges: cfg.Allowed.Ranges, Hosts: cfg.Allowed.Hosts}, Egress: send.Egress{Proxy: cfg.EgressProxy.URL},
		},
		DestinationCA: cfg.DestinationCA,
		Curves:        cfg.Curves, Profiles: cfg.Profiles,
		Traces: tracing.Options{Endpoint: cfg.Traces.Endpoint, Headers: config.HeaderPairs(cfg.Traces.Headers), Sample: cfg.Traces.Sample},
		Limits: limitsOf(cfg), OpenADR: OpenADR(cfg.OpenADR),
	}
}

// StreamOptions returns the streams' replication and retention.
func StreamOptions(cfg config.Config) jetstream.Options {
	return jetstream.Options{Replicas: cfg.NATS.Replicas, TriggersAge: cfg.TriggersAge, ReceiptsAge: cfg.ReceiptsAge, AuditAge: cfg.AuditAge}
}

func limitsOf(cfg config.Config) Limits {
	l := cfg.Limits
	return Limits{
		Requests: rest.Options{
			MaxBody: int64(l.MaxBody), MaxImportBody: int64(l.MaxImport), MaxDepth: l.MaxDepth, Rate: l.RateLimit, Burst: l.RateBurst,
			FeedbackRate: l.FeedbackRate, FeedbackBurst: l.FeedbackBurst, Timeout: l.RequestTimeout, MaxUnread: int64(l.MaxUnread),
			Origins: strings.FieldsFunc(cfg.Limits.CORSOrigins, func(r rune) bool { return r == ',' || r == ' ' }),
			Proxies: rest.Proxies{Trusted: cfg.TrustedProxies, Forwarded: cfg.ProxyHeader == "Forwarded"},
		},
		Estimates: l.Estimates, MaxEndpoints: l.MaxEndpoints, Quota: events.Quota{Waiting: l.MaxWaiting, Bytes: int64(l.MaxHistory)},
		Connections: rest.Connections{
			HeaderTimeout: l.HeaderTimeout, ReadTimeout: l.ReadTimeout, WriteTimeout: l.WriteTimeout, IdleTimeout: l.IdleTimeout,
			MaxHeaders: int(l.MaxHeaders),
		},
	}
}

// NATSOptions returns the credentials and TLS of a connection to NATS.
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
