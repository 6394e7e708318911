package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func newEndpointCommand(g *globals) *cobra.Command {
	return g.talks(group("endpoint", "Webhook endpoints: where signals are delivered",
		newEndpointCreate(g), newEndpointList(g), newEndpointGet(g), newEndpointUpdate(g),
		newEndpointDelete(g), newEndpointRotateSecret(g), newEndpointTest(g), newEndpointReplay(g)))
}

func newEndpointCreate(g *globals) *cobra.Command {
	var f endpointFlags
	var signed string
	cmd := &cobra.Command{
		Use: "create", Short: "Register an endpoint, and print its secret this once", Args: takes(),
		Example: `  gridhook endpoint create --org acme --url https://example.com/hooks
  gridhook endpoint create --org acme --url https://example.com/hooks --event price_signal.updated --mode onChange`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fields, err := f.fields(g, cmd)
			if err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			e, err := c.CreateEndpoint(cmd.Context(), client.NewEndpoint{EndpointFields: fields, Signature: storage.Signature(signed)})
			if err != nil {
				return err
			}
			return g.showEndpoint(e)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&signed, "signature", "", "hmac, or ed25519 to verify with a public key (default hmac)")
	completes(cmd, "signature", string(storage.SignatureHMAC), string(storage.SignatureEd25519))
	_ = cmd.MarkFlagRequired("url") // add added it
	return g.forOrg(cmd)
}

func newEndpointUpdate(g *globals) *cobra.Command {
	var f endpointFlags
	cmd := &cobra.Command{
		Use: "update ENDPOINT", Short: "Change what the flags say, and nothing else", Args: takes("the endpoint"),
		Example: `  gridhook endpoint update ep_01JZ0000000000000000000000 --org acme --enabled=false`,
		RunE: func(cmd *cobra.Command, args []string) error {
			fields, err := f.fields(g, cmd)
			if err != nil {
				return err
			}
			if fields == (client.EndpointFields{}) {
				return usagef("say with a flag what to change")
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			e, err := c.UpdateEndpoint(cmd.Context(), args[0], fields)
			if err != nil {
				return err
			}
			return g.showEndpoint(e)
		},
	}
	f.add(cmd)
	return g.forOrg(cmd)
}

func newEndpointList(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "list", Short: "List the endpoints of an organization",
		Example: `  gridhook endpoint list --org acme`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), c.Endpoints)
			if err != nil {
				return err
			}
			return showList(g, all, "endpoints", []any{"ID", "URL", "ENABLED", "MODE", "EVENTS", "HEALTH", "BREAKER"}, func(e client.Endpoint) []any {
				return []any{e.ID, e.URL, e.Enabled, e.DeliveryMode, eventList(e), or(string(e.Health.State)), or(string(e.Breaker.State))}
			})
		},
	})
}

func newEndpointGet(g *globals) *cobra.Command {
	return g.oneEndpoint(&cobra.Command{Use: "get ENDPOINT", Short: "Show an endpoint",
		Example: `  gridhook endpoint get ep_01JZ0000000000000000000000 --org acme`}, func(cmd *cobra.Command, c *client.Client, id string) error {
		e, err := c.GetEndpoint(cmd.Context(), id)
		if err != nil {
			return err
		}
		return g.showEndpoint(e)
	})
}

func newEndpointDelete(g *globals) *cobra.Command {
	return g.oneEndpoint(&cobra.Command{Use: "delete ENDPOINT", Short: "Remove an endpoint",
		Example: `  gridhook endpoint delete ep_01JZ0000000000000000000000 --org acme`}, func(cmd *cobra.Command, c *client.Client, id string) error {
		if err := c.DeleteEndpoint(cmd.Context(), id); err != nil {
			return err
		}
		return g.showDeleted(id)
	})
}

func newEndpointRotateSecret(g *globals) *cobra.Command {
	return g.oneEndpoint(&cobra.Command{
		Use: "rotate-secret ENDPOINT", Short: "Make a new secret; the old one signs beside it for a day",
		Example: `  gridhook endpoint rotate-secret ep_01JZ0000000000000000000000 --org acme`,
	}, func(cmd *cobra.Command, c *client.Client, id string) error {
		e, err := c.RotateSecret(cmd.Context(), id)
		if err != nil {
			return err
		}
		return g.showEndpoint(e)
	})
}

func newEndpointTest(g *globals) *cobra.Command {
	return g.oneEndpoint(&cobra.Command{
		Use: "test ENDPOINT", Short: "Send a webhook.test, and exit 1 when it is not taken",
		Example: `  gridhook endpoint test ep_01JZ0000000000000000000000 --org acme`,
	}, func(cmd *cobra.Command, c *client.Client, id string) error {
		d, err := c.TestEndpoint(cmd.Context(), id)
		if err != nil {
			return err
		}
		if err := g.show(d, func(w io.Writer) {
			row(w, "outcome", d.Outcome)
			row(w, "answer", answered(d.Status))
			row(w, "took", fmt.Sprintf("%.0f ms", d.Milliseconds))
			row(w, "message", d.MessageID)
		}); err != nil {
			return err
		}
		if d.Outcome != events.OutcomeDelivered {
			return fmt.Errorf("%w: the endpoint did not take the test", errSome)
		}
		return nil
	})
}

// oneEndpoint completes a command about one endpoint.
func (g *globals) oneEndpoint(cmd *cobra.Command, do func(*cobra.Command, *client.Client, string) error) *cobra.Command {
	cmd.Args = takes("the endpoint")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := g.connect()
		if err != nil {
			return err
		}
		return do(cmd, c, args[0])
	}
	return g.forOrg(cmd)
}

func (g *globals) showEndpoint(e client.Endpoint) error {
	return g.show(e, func(w io.Writer) {
		row(w, "endpoint", e.ID)
		row(w, "url", e.URL)
		if e.Description != "" {
			row(w, "description", e.Description)
		}
		row(w, "events", eventList(e))
		row(w, "enabled", e.Enabled)
		if e.Disabled != nil {
			row(w, "disabled", fmt.Sprintf("%s at %s: %s", e.Disabled.Reason, moment(e.Disabled.At), e.Disabled.Detail))
		}
		row(w, "mode", e.DeliveryMode)
		if e.Format == storage.FormatOpenADR3 {
			row(w, "format", e.Format)
		}
		if e.Compression == storage.CompressionGzip {
			row(w, "compression", e.Compression)
		}
		if a := e.Authentication; a != nil {
			row(w, "authorized", strings.TrimSpace(string(a.Type)+" "+a.TokenURL))
		}
		if c := e.ClientCertificate; c != nil {
			row(w, "client cert", "until "+moment(c.ExpiresAt))
		}
		if e.Health.State != "" {
			row(w, "health", health(e.Health))
		}
		if b := e.Breaker; b.Workers > 0 {
			row(w, "breaker", fmt.Sprintf("%s since %s, next probe %s", b.State, moment(b.Since), moment(b.NextProbeAt)))
		}
		row(w, "timeout", fmt.Sprintf("%g s", e.TimeoutSeconds))
		if e.BatchSize > 1 {
			row(w, "batch", fmt.Sprintf("up to %d homes a request", e.BatchSize))
		}
		if e.RateLimit > 0 {
			row(w, "rate limit", fmt.Sprintf("%g/s", e.RateLimit))
		}
		if e.PublicKey != "" {
			row(w, "public key", e.PublicKey)
		}
		if e.Secret != "" {
			row(w, "secret", e.Secret)
			say(w, "\nKeep the secret now: it cannot be shown again.\n")
		}
	})
}

// health says in words how an endpoint does.
func health(h events.Health) string {
	if h.State != events.HealthFailing {
		return string(h.State)
	}
	return fmt.Sprintf("%s since %s, %d attempts: %s", h.State, moment(h.FailingSince), h.ConsecutiveFailures, or(h.LastFailure))
}

func eventList(e client.Endpoint) string {
	if len(e.EventTypes) == 0 {
		return "all"
	}
	return strings.Join(e.EventTypes, ",")
}

// endpointFlags are the flags that say what an endpoint shall be.
type endpointFlags struct {
	url, description, mode, format, compression string
	events, headers                             []string
	enabled                                     bool
	rateLimit, timeout                          float64
	batchSize                                   int
	auth                                        authFlags
}

func (f *endpointFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "where to deliver, an https `URL`")
	flags.StringVar(&f.description, "description", "", "what it is for")
	flags.StringSliceVar(&f.events, "event", nil, "an event `type` to send, by default all; may be repeated")
	flags.StringArrayVar(&f.headers, "header", nil, "a `header` to send, \"Name: value\"; may be repeated")
	flags.StringVar(&f.mode, "mode", "", "always, or onChange to skip signals that did not change")
	flags.StringVar(&f.format, "format", "", "signal, or openadr3 for events of OpenADR 3")
	flags.StringVar(&f.compression, "compression", "", "none, or gzip to compress the bodies")
	completes(cmd, "event", storage.EventTypes()...)
	completes(cmd, "mode", string(storage.DeliverAlways), string(storage.DeliverOnChange))
	completesAny(cmd, "format", storage.SignalFormats())
	completesAny(cmd, "compression", storage.Compressions())
	flags.IntVar(&f.batchSize, "batch-size", 1, "how many homes' signals one request may carry, up to 64")
	flags.BoolVar(&f.enabled, "enabled", true, "whether to deliver at all: false pauses the endpoint, and queues nothing for it")
	flags.Float64Var(&f.rateLimit, "rate-limit", 0, "the most deliveries a second, 0 for no limit")
	flags.Float64Var(&f.timeout, "timeout", 10, "the `seconds` that one attempt may take")
	f.auth.add(cmd)
}

// fields are the flags that were given.
func (f *endpointFlags) fields(g *globals, cmd *cobra.Command) (client.EndpointFields, error) {
	var out client.EndpointFields
	given := cmd.Flags().Changed
	if given("url") {
		out.URL = &f.url
	}
	if given("description") {
		out.Description = &f.description
	}
	if given("event") {
		out.EventTypes = &f.events
	}
	if given("mode") {
		out.DeliveryMode = (*storage.DeliveryMode)(&f.mode)
	}
	if given("format") {
		out.Format = (*storage.SignalFormat)(&f.format)
	}
	if given("compression") {
		out.Compression = (*storage.Compression)(&f.compression)
	}
	if given("batch-size") {
		out.BatchSize = &f.batchSize
	}
	if given("enabled") {
		out.Enabled = &f.enabled
	}
	if given("rate-limit") {
		out.RateLimit = &f.rateLimit
	}
	if given("timeout") {
		out.TimeoutSeconds = &f.timeout
	}
	if given("header") {
		headers := map[string]string{}
		for _, h := range f.headers {
			name, value, ok := strings.Cut(h, ":")
			if !ok {
				return out, usagef("--header must be \"Name: value\", not %q", h)
			}
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
		out.Headers = &headers
	}
	err := f.auth.fields(g, cmd, &out)
	return out, err
}
