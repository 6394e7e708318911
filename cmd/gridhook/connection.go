package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
)

const (
	defaultAdminURL = "http://127.0.0.1:8081"
	operatorKeyEnv  = "GRIDHOOK_OPERATOR_KEY"
)

// talks adds the connection's flags to a command and its subcommands.
func (g *globals) talks(cmd *cobra.Command) *cobra.Command {
	flags := cmd.PersistentFlags()
	flags.StringVar(&g.adminURL, "admin-url", defaultAdminURL, "admin `URL` of the server (GRIDHOOK_ADMIN_URL)")
	flags.StringVar(&g.data, "data", "./gridhook-data", "the server's data `folder` with the operator's key (GRIDHOOK_DATA); "+operatorKeyEnv+" is the key itself")
	flags.StringVar(&g.apiURL, "api-url", "", "`URL` of the public API, to act as a partner instead of as the operator (GRIDHOOK_API_URL)")
	flags.StringVar(&g.apiKey, "api-key", "", "the partner's API `key` for --api-url; prefer GRIDHOOK_API_KEY, because other users of this machine can read flags")
	flags.StringVar(&g.context, "context", "", "`context` with these settings, see gridhook context (GRIDHOOK_CONTEXT)")
	g.outputFlags(flags)
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := g.takeEnvironment(cmd); err != nil {
			return err
		}
		return g.checkRequired(cmd)
	}
	return cmd
}

// connection annotates a command that does not use every connection flag.
const connection = "connection"

// These are the values of the annotation connection.
const (
	operatorOnly = "operator" // the command refuses --api-url
	noConnection = "none"     // the command sends no request
)

// uses reports whether a command, or any command of a group, uses a connection flag.
func uses(cmd *cobra.Command, flag string) bool {
	switch cmd.Annotations[connection] {
	case operatorOnly:
		return !strings.HasPrefix(flag, "api-")
	case noConnection:
		return false
	}
	return !cmd.HasSubCommands() || slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return uses(c, flag) })
}

// hideUnused hides the connection flags that a command does not use.
func hideUnused(cmd *cobra.Command) {
	for _, name := range connectionFlags {
		if f := cmd.Flag(name); f != nil && !uses(cmd, name) {
			f.Hidden = true
		}
	}
}

// isPartner reports whether commands use the public API with a partner's key.
func (g *globals) isPartner() bool { return g.apiURL != "" }

// ofOperator returns an error for a partner who uses what only the operator may.
func (g *globals) ofOperator(plural string) error {
	if g.isPartner() {
		return usagef("%s belong to the operator and a partner's key has no access: omit --api-url", plural)
	}
	return nil
}

// server returns the address of the server.
func (g *globals) server() string { return cmp.Or(g.apiURL, g.adminURL) }

// operatorNeeds annotates flags that only an operator must give. A partner's key already
// determines the organization.
const operatorNeeds = "operator-needs"

// forOrg adds the flag that names the organization.
func (g *globals) forOrg(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&g.org, "org", "", "`organization` to act for (GRIDHOOK_ORG)")
	_ = cmd.Flags().SetAnnotation("org", operatorNeeds, nil) // it was added the line before
	return cmd
}

// forOrgOrOperator adds the flag that names the organization. Without it, an operator key
// acts for the operator.
func (g *globals) forOrgOrOperator(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&g.org, "org", "", "`organization` to act for, by default the operator (GRIDHOOK_ORG)")
	return cmd
}

// orgFlag returns the --org flag with its value, for commands that an output suggests.
func (g *globals) orgFlag() string {
	if g.org == "" {
		return ""
	}
	return " --org " + g.org
}

// takeEnvironment sets absent flags from their environment variables, then from the
// context.
func (g *globals) takeEnvironment(cmd *cobra.Command) error {
	named := given(cmd, "context")
	if err := takeFlags(cmd, func(name string) string { return g.getenv(config.EnvName(name)) }); err != nil {
		return err
	}
	for _, name := range []string{"admin-url", "data", "api-url"} {
		switch {
		case !given(cmd, name):
		case named:
			return usagef("--context and --%s (%s) both name a server: leave one out", name, config.EnvName(name))
		default:
			return nil // the context may be of another server, which must not see its key
		}
	}
	c, err := g.currentContext()
	if err != nil {
		g.contextErr = err
		return nil //nolint:nilerr // connect returns it: a command without a server needs no context
	}
	g.contextKey = c["operator-key"]
	return takeFlags(cmd, func(name string) string { return c[name] })
}

// takeFlags sets absent connection flags. With --admin-url or --data it leaves --api-url
// unset, so that the operator's server stays selected.
func takeFlags(cmd *cobra.Command, said func(name string) string) error {
	operator := given(cmd, "admin-url") || given(cmd, "data")
	for _, name := range connectionFlags {
		flag, value := cmd.Flags().Lookup(name), said(name)
		if flag == nil || flag.Changed || value == "" || operator && name == "api-url" {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// connectionFlags are the flags that select the server and the credentials.
var connectionFlags = []string{"context", "admin-url", "data", "org", "api-url", "api-key"}

func given(cmd *cobra.Command, name string) bool { return cmd.Flags().Changed(name) }

// checkRequired names the missing required flags. It runs before cobra's check, which has
// a different text.
func (g *globals) checkRequired(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, required := f.Annotations[cobra.BashCompOneRequiredFlag]
		_, ofOperator := f.Annotations[operatorNeeds]
		if !f.Changed && (required || ofOperator && !g.isPartner()) {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) > 0 {
		if g.contextErr != nil {
			return g.contextErr
		}
		return usagef("%s must be given", strings.Join(missing, " and "))
	}
	return nil
}

// connect creates a client. With --api-url it is a partner's client. Otherwise it uses
// the operator's key and acts for --org if the command has that flag.
func (g *globals) connect() (*client.Client, error) {
	flag := "admin-url"
	if g.isPartner() {
		flag = "api-url"
	}
	if _, err := parseURL(flag, g.server()); g.contextErr != nil || err != nil {
		return nil, cmp.Or(g.contextErr, err)
	}
	key, err := g.apiKey, error(nil)
	if !g.isPartner() {
		key, _, err = g.operatorKey()
	} else if key == "" {
		err = usagef("--api-url needs the partner's key: set GRIDHOOK_API_KEY or --api-key")
	}
	if err != nil {
		return nil, err
	}
	key = strings.TrimSpace(key) // a variable that was read from a file may have its line end
	return &client.Client{BaseURL: g.server(), Key: key, Organization: g.org}, nil
}

// urlExamples are values of the flags that are URLs.
var urlExamples = map[string]string{
	"admin-url": defaultAdminURL, "api-url": "https://gridhook.example.com", "forward": "http://127.0.0.1:3000/hooks",
}

// parseURL parses the value of a flag that is a URL.
func parseURL(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("--%s must be a URL such as %s, not %q", flag, urlExamples[flag], text)
	}
	return u, nil
}

// operatorKey returns the operator's key and its source: the environment, the context, or
// the file in the server's data folder.
func (g *globals) operatorKey() (key, source string, err error) {
	if key := g.getenv(operatorKeyEnv); key != "" {
		return key, operatorKeyEnv, nil
	}
	if g.contextKey != "" {
		return g.contextKey, "the context", nil
	}
	path := filepath.Join(g.data, app.OperatorKeyFile)
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	b, err := os.ReadFile(path) //nolint:gosec // the operator names the folder
	switch key = strings.TrimSpace(string(b)); {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("operator's key not found at %s: name the server's data folder with --data, or set %s", path, operatorKeyEnv)
	case err != nil:
		err = fmt.Errorf("read the operator's key: %w", err)
	case key == "":
		err = fmt.Errorf("operator's key at %s is empty: delete the file and restart the server", path)
	}
	return key, path, err
}
