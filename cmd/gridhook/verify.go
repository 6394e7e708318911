package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/cmd/internal/receiver"
)

// secretsEnv names the variable with the secrets, separated by white space.
const secretsEnv = "GRIDHOOK_WEBHOOK_SECRET" //nolint:gosec // a name

// secretFlags are the sources of the secrets that verify webhooks.
type secretFlags struct {
	given []string
	file  string
}

func (f *secretFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.given, "secret", nil, "the endpoint's `secret` (whsec_...) or public key (whpk_...); repeatable; prefer "+secretsEnv+", because other users of this machine can read flags")
	cmd.Flags().StringVar(&f.file, "secret-file", "", "`file` with secrets, one per line")
}

// verifier returns a verifier from the flags, or else from the environment. It returns
// nil if there is no secret.
func (f *secretFlags) verifier(g *globals) (*receiver.Verifier, error) {
	secrets, source := f.given, "--secret"
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("read the secret: %w", err)
		}
		if len(strings.Fields(string(text))) == 0 {
			return nil, usagef("--secret-file: no secret in %s", f.file)
		}
		secrets, source = append(secrets, strings.Fields(string(text))...), "--secret-file"
	}
	if len(secrets) == 0 {
		secrets, source = strings.Fields(g.getenv(secretsEnv)), secretsEnv
	}
	if len(secrets) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	v, err := receiver.NewVerifier(secrets...)
	if err != nil {
		return nil, usagef("%s: %v", source, err)
	}
	return v, nil
}

func newVerifyCommand(g *globals) *cobra.Command {
	var (
		headers, body, at string
		anyAge            bool
		secrets           secretFlags
	)
	cmd := &cobra.Command{
		Use: "verify [REQUEST]", Short: "Check the signature of a captured webhook",
		Long: `Check the signature of a captured webhook: a raw HTTP request in a file or on standard
input, or its headers and its body in one file each. If the webhook does not verify, the
command prints the reason:

  BAD_HEADERS           a header is missing or malformed
  TIMESTAMP_TOO_OLD     the signature is valid but more than 5 minutes old
  TIMESTAMP_TOO_NEW     the signature is valid but more than 5 minutes ahead
  WRONG_KIND_OF_SECRET  a secret for an endpoint that signs with Ed25519, or the reverse
  BODY_CHANGED          the body differs from the signed body
  WRONG_SECRET          the body looks complete but is not signed with this secret

Exit code 0: the webhook verifies. 1: it does not, or it is unreadable. 2: the command
line is wrong.`,
		Example: `  gridhook verify --secret-file secret.txt request.http
  gridhook verify --headers headers.txt --body body.json --any-age
  GRIDHOOK_WEBHOOK_SECRET=whpk_... gridhook verify --at 2026-07-01T00:00:00Z < request.http`,
		Args: takesUpTo(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&headers, "headers", "", "`file` with the headers, one per line")
	flags.StringVar(&body, "body", "", "`file` with the unchanged body")
	flags.StringVar(&at, "at", "", "arrival `time`, or a duration from now such as -2h (default now)")
	flags.BoolVar(&anyAge, "any-age", false, "acceptance of timestamps of any age")
	g.outputFlags(flags)
	secrets.add(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		v, err := secrets.verifier(g)
		if err != nil {
			return err
		}
		if v == nil {
			return usagef("give the secret with --secret-file, --secret or %s", secretsEnv)
		}
		arrived, err := instant("--at", at, time.Now())
		if err != nil {
			return err
		}
		if v.AnyAge = anyAge; arrived != nil {
			v.Now = func() time.Time { return arrived.Time }
		}
		header, text, err := g.captured(args, headers, body)
		if err != nil {
			return err
		}
		return g.showVerdict(v, header, text)
	}
	return cmd
}

// captured reads the request from the location in the command line.
func (g *globals) captured(args []string, headers, body string) (header http.Header, text []byte, err error) {
	switch {
	case (headers == "") != (body == ""):
		return nil, nil, usagef("give both --headers and --body, or neither with a raw request")
	case headers != "" && len(args) > 0:
		return nil, nil, usagef("give either --headers and --body, or a raw request")
	case headers != "":
		if header, err = readAs(headers, g.in, receiver.ReadHeaders); err != nil {
			return nil, nil, err
		}
		text, err = readFile(body, g.in)
		return header, text, err
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	captured, err := readFile(name, g.in)
	if err != nil {
		return nil, nil, err
	}
	if header, text, err = receiver.ReadRequest(captured); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return header, text, nil
}

// verdict is the result of a captured request's verification.
type verdict struct {
	Verified bool `json:"verified"`
	receiver.Delivered
	Bytes   int    `json:"bytes"`
	Problem string `json:"problem,omitempty"`
	Message string `json:"message,omitempty"`
}

func (g *globals) showVerdict(v *receiver.Verifier, header http.Header, body []byte) error {
	d, err := v.Verify(header, body)
	out := verdict{Verified: err == nil, Delivered: d, Bytes: len(body)}
	if problem, ok := errors.AsType[*receiver.Problem](err); ok {
		out.Problem, out.Message = problem.Code, problem.Message
	}
	r, failed := convert[record](out)
	if failed != nil {
		return failed
	}
	r["verdict"] = cmp.Or(out.Problem, "verified")
	if out.Secret > 0 {
		r["signature"] = fmt.Sprintf("%s, by secret %d", out.Version, out.Secret)
	}
	if out.SignedAt.IsZero() {
		delete(r, "signedAt")
	}
	if err := g.show(out, func(w io.Writer) {
		r.print(w, "verdict:verdict, message:id, signed:signedAt, signature:signature, body:bytes:bytes")
	}); err != nil || out.Verified {
		return err
	}
	return fmt.Errorf("the webhook does not verify: %s", plain(out.Message))
}
