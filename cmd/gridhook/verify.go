package main

import (
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
	cmd.Flags().StringArrayVar(&f.given, "secret", nil, "the endpoint's `secret` (whsec_...) or public key (whpk_...); may be repeated; other users of this machine can see it, unlike "+secretsEnv)
	cmd.Flags().StringVar(&f.file, "secret-file", "", "a `file` with secrets, one a line")
}

// verifier returns a verifier from the flags, or else from the environment. It returns
// nil if there is no secret.
func (f *secretFlags) verifier(g *globals) (*receiver.Verifier, error) {
	secrets, source := f.given, "--secret"
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("the secret cannot be read: %w", err)
		}
		if len(strings.Fields(string(text))) == 0 {
			return nil, usagef("--secret-file: there is no secret in %s", f.file)
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
		Use: "verify [REQUEST]", Short: "Check a captured webhook, and say what is wrong with it",
		Long: `Check the signature of a webhook that was captured: a raw HTTP request in a file,
or on standard input, or its headers and its body in a file each. It says
whether it verifies, and if not why:

  BAD_HEADERS           a header is missing or malformed
  TIMESTAMP_TOO_OLD     the signature is right, and more than 5 minutes old
  TIMESTAMP_TOO_NEW     the signature is right, and more than 5 minutes ahead
  WRONG_KIND_OF_SECRET  a secret where the endpoint signs with Ed25519, or the reverse
  BODY_CHANGED          the body is not the one that was signed
  WRONG_SECRET          the body looks whole, and is not signed with this secret

The exit code is 0 when it verifies, 1 when it does not or cannot be read, and 2
when the command line is wrong.`,
		Example: `  gridhook verify --secret-file secret.txt request.http
  gridhook verify --headers headers.txt --body body.json --any-age
  GRIDHOOK_WEBHOOK_SECRET=whpk_... gridhook verify --at 2026-07-01T00:00:00Z < request.http`,
		GroupID: groupTry,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("there is an argument too many: %q", args[1])
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&headers, "headers", "", "a `file` with the headers, one a line")
	flags.StringVar(&body, "body", "", "a `file` with the body, byte by byte as it came")
	flags.StringVar(&at, "at", "", "the `time` of its arrival, or a duration from now such as -2h; now where it is not given")
	flags.BoolVar(&anyAge, "any-age", false, "do not look at its age")
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
func (g *globals) captured(args []string, headers, body string) (http.Header, []byte, error) {
	switch {
	case (headers == "") != (body == ""):
		return nil, nil, usagef("give both --headers and --body, or a raw request without them")
	case headers != "" && len(args) > 0:
		return nil, nil, usagef("give --headers and --body, or a raw request, not both")
	case headers != "":
		file, err := os.Open(headers) //nolint:gosec // the user names the file
		if err != nil {
			return nil, nil, err
		}
		defer func() { _ = file.Close() }()
		header, err := receiver.ReadHeaders(file)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", headers, err)
		}
		text, err := os.ReadFile(body) //nolint:gosec // the user names the file
		return header, text, err
	case len(args) == 0 || args[0] == "-":
		return receiver.ReadRequest(g.in)
	}
	file, err := os.Open(args[0]) //nolint:gosec // the user names the file
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	header, text, err := receiver.ReadRequest(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", args[0], err)
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
	var problem *receiver.Problem
	if errors.As(err, &problem) {
		out.Problem, out.Message = problem.Code, problem.Message
	}
	if err := g.show(out, func(w io.Writer) { printVerdict(w, out) }); err != nil {
		return err
	}
	if out.Verified {
		return nil
	}
	return fmt.Errorf("it does not verify: %s", plain(out.Message))
}

func printVerdict(w io.Writer, v verdict) {
	if v.Verified {
		row(w, "verdict", "verified")
	} else {
		row(w, "verdict", v.Problem)
	}
	if v.ID != "" {
		row(w, "message", v.ID)
	}
	if !v.SignedAt.IsZero() {
		row(w, "signed", v.SignedAt.Format(time.RFC3339))
	}
	if v.Secret > 0 {
		row(w, "signature", fmt.Sprintf("%s, by secret %d", v.Version, v.Secret))
	}
	row(w, "body", fmt.Sprintf("%d bytes", v.Bytes))
}
