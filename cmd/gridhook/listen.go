package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/receiver"
	"github.com/gridhook/gridhook/storage"
)

func newListenCommand(g *globals) *cobra.Command {
	var (
		address, forward string
		folder           string
		secrets          secretFlags
		options          receiver.Options
	)
	cmd := &cobra.Command{
		Use: "listen", Short: "Receive webhooks, verify them, print them, and play faults",
		Long: `Receive webhooks on an address, verify their signatures, and print a line for
each, until interrupted. Deliveries that do not verify are answered 401, the
others 204, or what the receiver at --forward answers.

With faults it shows how retries go: shares are fractions or percentages of the
deliveries that verify.`,
		Example: `  gridhook listen --secret whsec_...
  gridhook listen --secret-file secret.txt --forward http://127.0.0.1:3000/hooks
  gridhook listen --secret whsec_... --fail 0.2 --slow 2s --hang 1%
  gridhook listen --secret whsec_... --save requests
  gridhook listen --address 127.0.0.1:9000 --json > events.ndjson`,
		GroupID: groupTry, Args: takes(),
	}
	flags := cmd.Flags()
	flags.StringVar(&address, "address", "127.0.0.1:9090", "where to listen")
	flags.StringVar(&forward, "forward", "", "a `URL` to pass on to what verifies, as it came, and to answer as it answers")
	flags.Var(&options.Faults.Fail, "fail", "the share of deliveries to answer with --fail-status")
	flags.IntVar(&options.Faults.Status, "fail-status", http.StatusInternalServerError, "the status of an answer that fails")
	flags.Var(&options.Faults.Hang, "hang", "the share of deliveries to answer never")
	flags.DurationVar(&options.Faults.Slow, "slow", 0, "how much longer every answer takes, such as 2s")
	flags.StringVar(&folder, "save", "", "a `folder` to keep each request in, the last of a message, as gridhook verify reads it")
	flags.BoolVar(&g.json, "json", false, "print each event's body as one line of JSON")
	secrets.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if options.Verifier, err = secrets.verifier(g); err != nil {
			return err
		}
		if err := options.Faults.Check(); err != nil {
			return usagef("%v", err)
		}
		if options.Forward, err = forwardURL(forward); err != nil {
			return err
		}
		if folder != "" {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
		}
		options.Each = func(e receiver.Event) {
			g.showEvent(e, options.Verifier != nil)
			if err := saveEvent(folder, e); err != nil {
				say(g.err, "not kept: %v\n", err)
			}
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return g.listen(ctx, address, receiver.New(options))
	}
	return cmd
}

func forwardURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nothing was said
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("--forward must be a URL such as http://127.0.0.1:3000/hooks, not %q", text)
	}
	return u, nil
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
	say(g.err, "%d messages, %d of them repeated, %d refused, %d failed\n", n.Messages, n.Repeats, n.Refused, n.Failed)
	return nil
}

// saveEvent keeps a request in a folder, if there is one. Only an identifier that
// could be ours names a file: it comes from whoever sent it.
func saveEvent(folder string, e receiver.Event) error {
	if folder == "" {
		return nil
	}
	name := "unnamed"
	if storage.ValidID(e.ID) {
		name = e.ID
	}
	var text bytes.Buffer
	if err := e.WriteRequest(&text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".http"), text.Bytes(), 0o600)
}

// showEvent prints one delivery.
func (g *globals) showEvent(e receiver.Event, checked bool) {
	if g.json {
		say(g.out, "%s\n", e.Body)
		return
	}
	what := fmt.Sprintf("%s %s", e.Type, e.Data.HomeID)
	if e.Batch > 0 {
		what = fmt.Sprintf("%s of %d", e.Type, e.Batch)
	}
	if n := len(e.Data.Prices); n > 0 {
		what += fmt.Sprintf(" #%d %d intervals, now $%.5f/kWh", e.Data.Sequence, n, e.Data.Prices[0])
	}
	verdict := g.painter(g.out).verdict(e, checked)
	say(g.out, "%s %s %s %s\n", e.At.UTC().Format("15:04:05.000"), plain(or(e.ID)), plain(what), verdict)
}

// verdict is what became of a delivery, in colours where there are any.
func (p painter) verdict(e receiver.Event, checked bool) string {
	switch {
	case !e.Verified:
		return p.bad("REFUSED: " + plain(e.Problem))
	case !checked:
		return p.notice("unverified") + p.rest(e)
	}
	return p.good("verified") + p.rest(e)
}

func (p painter) rest(e receiver.Event) string {
	var notes []string
	if e.Repeat {
		notes = append(notes, "again")
	}
	switch {
	case e.Fault && e.Status == 0:
		notes = append(notes, p.bad("not answered, on purpose"))
	case e.Fault:
		notes = append(notes, p.bad("answered "+strconv.Itoa(e.Status)+" on purpose"))
	case e.Forwarded && e.Status > 299:
		notes = append(notes, p.bad("forwarded, answered "+strconv.Itoa(e.Status)))
	case e.Forwarded:
		notes = append(notes, "forwarded, answered "+strconv.Itoa(e.Status))
	}
	if e.Problem != "" {
		notes = append(notes, p.bad(plain(e.Problem)))
	}
	if len(notes) == 0 {
		return ""
	}
	return ", " + strings.Join(notes, ", ")
}
