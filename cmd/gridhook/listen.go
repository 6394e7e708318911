package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/receiver"
	"github.com/gridhook/gridhook/storage"
)

// listenHelp is the description of the listen command.
const listenHelp = `Receive webhooks, verify their signatures and print one line each, until Ctrl-C. The
response is 401 to a delivery that does not verify, and 503 to a delivery that cannot be
printed or saved; the command then exits with 1 at its end. Otherwise the response is
204, or the response of the receiver at --forward.

With an organization or a partner's key, and without a secret, the command creates a
temporary endpoint and removes it at the end. The webhooks come over a connection that
the command opens to the server, so this works behind NAT and firewalls. The server
retries what fails while the command does not run, and removes the endpoint of a killed
command after an hour. --endpoint continues at that endpoint. With --public-url the
server sends the webhooks to the URL of a tunnel to --address instead.

With a secret the command receives webhooks at --address, for an endpoint that you
register. Without a secret and an organization the response is always 401, unless
--unverified is set.

Simulated faults show how retries work. A share is a fraction or a percentage of the
deliveries that verify.`

func newListenCommand(g *globals) *cobra.Command {
	var l listenOptions
	var forward string
	var secrets secretFlags
	cmd := &cobra.Command{
		Use: "listen", Short: "Receive, verify and print webhooks, with simulated faults",
		Long: listenHelp,
		Example: `  gridhook listen --org acme
  gridhook listen --api-url https://gridhook.example.com --forward http://127.0.0.1:3000/hooks
  gridhook listen --org acme --public-url https://abc.tunnel.example --forward http://127.0.0.1:3000/hooks
  gridhook listen --secret whsec_...
  gridhook listen --secret-file secret.txt --forward http://127.0.0.1:3000/hooks
  gridhook listen --secret whsec_... --fail 0.2 --slow 2s --hang 1%
  gridhook listen --secret whsec_... --save requests
  gridhook listen --address 127.0.0.1:9000 --unverified --json > events.ndjson`,
		Args: takes(),
	}
	flags := cmd.Flags()
	flags.StringVar(&l.address, "address", "127.0.0.1:9090", "`address` to listen on")
	flags.StringVar(&l.publicURL, "public-url", "", "`URL` of a tunnel to the address, for the temporary endpoint")
	flags.StringVar(&l.endpoint, "endpoint", "", "`identifier` of the temporary endpoint of a command that was killed")
	flags.StringVar(&g.org, "org", "", "`organization` of the temporary endpoint (GRIDHOOK_ORG)")
	flags.BoolVar(&l.options.Unverified, "unverified", false, "acceptance of deliveries without verification")
	flags.StringVar(&forward, "forward", "", "`URL` that receives verified deliveries unchanged and determines the response")
	flags.Var(&l.options.Faults.Fail, "fail", "share of deliveries with a failure response, such as 0.2 or 20%")
	flags.IntVar(&l.options.Faults.Status, "fail-status", http.StatusInternalServerError, "`status` of a failure response")
	flags.Var(&l.options.Faults.Hang, "hang", "share of deliveries without a response, such as 0.01 or 1%")
	flags.DurationVar(&l.options.Faults.Slow, "slow", 0, "additional delay of every response, such as 2s")
	flags.StringVar(&l.folder, "save", "", "`folder` for the last request of each message, for gridhook verify")
	cmd.MarkFlagsMutuallyExclusive("endpoint", "public-url")
	secrets.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if l.options.Verifier, err = secrets.verifier(g); err != nil {
			return err
		}
		if l.publicURL != "" && (l.options.Verifier != nil || l.options.Unverified) {
			return usagef("--public-url has a secret of its own: omit --unverified, --secret, --secret-file and %s", secretsEnv)
		}
		if err := l.options.Faults.Check(); err != nil {
			return usagef("%v", err)
		}
		if forward != "" {
			if l.options.Forward, err = parseURL("forward", forward); err != nil {
				return err
			}
		}
		if l.folder != "" {
			if err := os.MkdirAll(l.folder, 0o700); err != nil {
				return err
			}
		}
		l.options.Each = func(e receiver.Event) error { return g.recordEvent(&l, e) }
		if l.endpoint != "" || l.publicURL == "" && l.options.Verifier == nil && !l.options.Unverified && (g.org != "" || g.isPartner()) {
			if given(cmd, "address") {
				return usagef("--address needs a secret, --public-url or --unverified: the webhooks of a temporary endpoint come over a connection to the server")
			}
			return g.listenByRelay(cmd.Context(), &l)
		}
		return g.listen(cmd.Context(), &l)
	}
	g.talks(cmd)
	cmd.Flag("json").Usage = "each event's body as one line of JSON"
	return cmd
}

// listenOptions are the options of the listen command.
type listenOptions struct {
	address, publicURL, folder, endpoint string
	options                              receiver.Options
}

// listen receives webhooks at an address.
func (g *globals) listen(ctx context.Context, o *listenOptions) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: choose another address with --address (%w)", o.address, err)
	}
	defer l.Close() //nolint:errcheck // the server closes it, too
	switch {
	case o.options.Verifier != nil || o.options.Unverified:
		say(g.err, "listening on http://%s; register it as an endpoint, and stop with Ctrl-C\n", l.Addr())
	case o.publicURL != "":
		_, endpoint, remove, err := g.temporaryEndpoint(ctx, o)
		if err != nil {
			return err
		}
		defer remove()
		say(g.err, "listening on http://%s; the temporary endpoint %s delivers to %s; stop with Ctrl-C\n", l.Addr(), endpoint.ID, o.publicURL)
	default:
		say(g.err, "listening on http://%s; every delivery is refused without a secret: give one with --secret-file, or name an --org for a temporary endpoint\n", l.Addr())
	}
	r := receiver.New(o.options)
	server := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return g.sumUp(r)
}

// sumUp prints a receiver's counts. It returns an error if a request was not recorded.
func (g *globals) sumUp(r *receiver.Receiver) error {
	n := r.Counts()
	say(g.err, "%s, %d repeated, %d refused, %d failed\n", count(n.Messages, "message"), n.Repeats, n.Refused, n.Failed)
	if n.Unrecorded > 0 {
		return fmt.Errorf("%s not printed or saved: free space for the output", count(n.Unrecorded, "request"))
	}
	return nil
}

// removeTemporary removes the command's endpoint, even after ctx has ended.
func (g *globals) removeTemporary(ctx context.Context, c *client.Client, endpoint string) {
	const wait = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	if err := c.DeleteEndpoint(ctx, endpoint); err != nil {
		say(g.err, "temporary endpoint not removed: run gridhook endpoint delete %s%s: %v\n", endpoint, g.orgFlag(), err)
		return
	}
	say(g.err, "temporary endpoint %s removed\n", endpoint)
}

// recordEvent saves and prints one delivery.
func (g *globals) recordEvent(o *listenOptions, e receiver.Event) error {
	err := saveEvent(o.folder, e)
	if err == nil {
		err = g.showEvent(e, o.options.Verifier != nil)
	}
	if err != nil {
		say(g.err, "%s not recorded: %v\n", plain(or(e.ID)), err)
	}
	return err
}

// saveEvent writes a request to a folder, if one is set. Only a valid identifier names
// the file, because it comes from an untrusted sender.
func saveEvent(folder string, e receiver.Event) error {
	if folder == "" {
		return nil
	}
	name := "unnamed"
	if storage.ValidID(e.ID) {
		name = e.ID
	}
	return os.WriteFile(filepath.Join(folder, name+".http"), e.Request(), 0o600)
}

// showEvent prints one delivery. JSON has only the events: a delivery that is refused or
// is not JSON goes to standard error.
func (g *globals) showEvent(e receiver.Event, checked bool) error {
	out := g.out
	if g.json() {
		var line bytes.Buffer
		if e.Verified && json.Compact(&line, e.Body) == nil {
			_, err := fmt.Fprintf(g.out, "%s\n", &line)
			return err
		}
		out = g.err
	}
	what := fmt.Sprintf("%s %s", e.Type, e.Data.HomeID)
	if e.Batch > 0 {
		what = fmt.Sprintf("%s of %d", e.Type, e.Batch)
	}
	if n := len(e.Data.Prices); n > 0 {
		what += fmt.Sprintf(" #%d %d intervals, now $%.5f/kWh", e.Data.Sequence, n, e.Data.Prices[0])
	}
	verdict := g.painter(out).verdict(e, checked)
	_, err := fmt.Fprintf(out, "%s %s %s %s\n", e.At.UTC().Format("15:04:05.000"), plain(or(e.ID)), plain(what), verdict)
	return err
}

// verdict formats a delivery's verification, in colors if they are on.
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
		notes = append(notes, "repeated")
	}
	response := fmt.Sprintf("response %d", e.Status)
	if e.Status == 0 {
		response = "no response"
	}
	if e.Forwarded {
		response = "forwarded, " + response
	}
	if e.Fault {
		response += " (simulated fault)"
	}
	if e.Fault || e.Status > 299 {
		response = p.bad(response)
	}
	if e.Fault || e.Forwarded {
		notes = append(notes, response)
	}
	if e.Problem != "" {
		notes = append(notes, p.bad(plain(e.Problem)))
	}
	if len(notes) == 0 {
		return ""
	}
	return ", " + strings.Join(notes, ", ")
}
