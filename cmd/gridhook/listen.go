package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/receiver"
)

func newListenCommand(g *globals) *cobra.Command {
	var address, secret string
	cmd := &cobra.Command{
		Use: "listen", Short: "Receive webhooks, verify them, and print them",
		Long: `Receive webhooks on an address, verify their signatures with the endpoint's
secret, and print a line for each, until interrupted. Deliveries that do not
verify are answered 401. The secret may also come from GRIDHOOK_WEBHOOK_SECRET.`,
		Example: `  gridhook listen --secret whsec_...
  gridhook listen --address 127.0.0.1:9000 --json`,
		GroupID: groupTry, Args: takes(),
	}
	cmd.Flags().StringVar(&address, "address", "127.0.0.1:9090", "where to listen")
	cmd.Flags().StringVar(&secret, "secret", "", "the endpoint's signing secret; without one nothing is verified")
	cmd.Flags().BoolVar(&g.json, "json", false, "print each event's body as one line of JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if secret == "" {
			secret = g.getenv("GRIDHOOK_WEBHOOK_SECRET")
		}
		r, err := receiver.New(secret, func(e receiver.Event) { g.showEvent(e, secret != "") })
		if err != nil {
			return usagef("--secret: %v", err)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return g.listen(ctx, address, r)
	}
	return cmd
}

func (g *globals) listen(ctx context.Context, address string, r *receiver.Receiver) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: choose another with --address (%w)", address, err)
	}
	say(g.err, "listening on http://%s; register it as an endpoint, and stop with Ctrl-C\n", l.Addr())
	server := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	n := r.Counts()
	say(g.err, "%d messages, %d of them repeated, %d refused\n", n.Messages, n.Repeats, n.Refused)
	return nil
}

// showEvent prints one delivery.
func (g *globals) showEvent(e receiver.Event, checked bool) {
	if g.json {
		say(g.out, "%s\n", e.Body)
		return
	}
	verdict := "unverified"
	switch {
	case !e.Verified:
		verdict = "REFUSED: " + e.Problem
	case checked:
		verdict = "verified"
	}
	if e.Repeat {
		verdict += ", again"
	}
	what := plain(fmt.Sprintf("%s %s", e.Type, e.Data.HomeID))
	if n := len(e.Data.Prices); n > 0 {
		what += fmt.Sprintf(" #%d %d intervals, now $%.5f/kWh", e.Data.Sequence, n, e.Data.Prices[0])
	}
	say(g.out, "%s %s %s %s\n", e.At.UTC().Format("15:04:05.000"), plain(e.ID), what, verdict)
}
