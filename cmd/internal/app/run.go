package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events/jetstream"
)

// Run runs one process with its configuration until ctx ends or a part fails, and then
// stops it. It writes the addresses to out and logs to standard error.
func Run(ctx context.Context, cfg config.Config, version string, out io.Writer) error {
	level := &slog.HandlerOptions{Level: cfg.LogLevel}
	o := Options{Config: cfg, Version: version, Log: slog.New(slog.NewJSONHandler(os.Stderr, level))}
	if cfg.LogFormat == "text" {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, level))
	}
	for _, warning := range cfg.Warnings {
		o.Log.Warn(warning)
	}
	ShareProcessors()
	if err := LimitMemory(int64(cfg.MemoryLimit)); err != nil {
		return err
	}
	a, err := Start(ctx, o)
	if err != nil && ctx.Err() != nil {
		o.Log.Info("stopped during the start", "cause", sentence(err))
		return nil //nolint:nilerr // a signal is no failure
	}
	if err != nil {
		return err
	}
	a.announce(out)
	a.Log.Info("ready", "role", o.Role, "version", version, "api", a.httpAddr, "admin", a.adminAddr)
	notify := func(state string) {
		if err := notifySystemd(context.WithoutCancel(ctx), state); err != nil {
			a.Log.Warn("systemd not notified", "state", state, "error", err)
		}
	}
	notify(stateReady)
	err = a.Wait(ctx)
	notify(stateStopping)
	a.Log.Info("stopping", "reason", cmp.Or(sentence(err), "a signal"))
	err = errors.Join(err, a.Stop())
	o.Log.Info("stopped")
	return err
}

// announce prints the addresses in a form for people and scripts. The last line begins
// with "ready".
func (a *App) announce(out io.Writer) {
	say := func(name, value string) { _, _ = fmt.Fprintf(out, "%-13s %s\n", name, value) } // nobody may be reading
	if a.servesAPI() {
		say("API", a.URL())
	}
	say("admin", a.AdminURL()+"  (metrics, health checks"+map[bool]string{true: ", the operator's API"}[a.servesAPI()]+")")
	say("data", a.Data)
	if (a.servesAPI() || a.Profiles) && a.OperatorKey == "" {
		say("operator key", "in "+filepath.Join(a.Data, OperatorKeyFile))
	}
	say("ready", "Gridhook "+string(a.Role)+" "+a.Version+"; stop with Ctrl-C")
}

// deliveryOptions returns the options of the worker.
func deliveryOptions(c *config.Config) dispatcher.Options {
	return dispatcher.Options{
		Slices: c.Worker.Slices, Concurrency: c.Worker.Concurrency, EndpointConcurrency: c.Worker.EndpointConcurrency,
		DrainTimeout: c.Worker.DrainTimeout, TracedRequests: c.Traces.Requests,
		Guard:  send.Guard{AllowPrivate: c.AllowPrivate, Allowed: send.Allowed{Ranges: c.Allowed.Ranges, Hosts: c.Allowed.Hosts}},
		Egress: send.Egress{Proxy: c.EgressProxy.URL},
		Mail:   channel.Mail{Server: c.SMTP.URL.URL, From: c.SMTP.From},
	}
}

// MaxXML is the maximum size of an XML body in bytes. A year of quarter hours of Green Button
// takes 8 to 25 MB.
const MaxXML = 64 << 20

// requestOptions returns the API's limits on requests.
func requestOptions(c *config.Config) rest.Options {
	l := c.Limits
	return rest.Options{
		MaxBody: int64(l.MaxBody), MaxImportBody: int64(l.MaxImport), MaxXMLBody: MaxXML, MaxDepth: l.MaxDepth, Rate: l.RateLimit, Burst: l.RateBurst,
		FeedbackRate: l.FeedbackRate, FeedbackBurst: l.FeedbackBurst, MaxIdempotencyKeys: l.MaxIdempotencyKeys, Timeout: l.RequestTimeout, MaxUnread: int64(l.MaxUnread), MaxConnections: l.MaxConnections,
		Origins: config.List(l.CORSOrigins),
		Proxies: rest.Proxies{Trusted: c.TrustedProxies, Forwarded: c.ProxyHeader == "Forwarded"},
	}
}

// StreamOptions returns the streams' names, servers, replication and retention.
func StreamOptions(c config.Config) jetstream.Options {
	return jetstream.Options{
		Prefix: jetstream.Prefix(c.NATS.Prefix), Domain: c.NATS.Domain, Tags: config.List(c.NATS.Tags), Replicas: c.NATS.Replicas,
		TriggersAge: c.TriggersAge, ReceiptsAge: c.ReceiptsAge, AuditAge: c.AuditAge,
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
