package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/config"
)

const (
	defaultAdminURL = "http://127.0.0.1:8081"
	operatorKeyEnv  = "GRIDHOOK_OPERATOR_KEY"
	operatorKeyFile = "operator.key"
)

// talks makes a command, and those below it, one that talks to a server.
func (g *globals) talks(cmd *cobra.Command) *cobra.Command {
	flags := cmd.PersistentFlags()
	flags.StringVar(&g.adminURL, "admin-url", defaultAdminURL, "the admin `address` of the server (GRIDHOOK_ADMIN_URL)")
	flags.StringVar(&g.data, "data", "./gridhook-data", "the server's data `folder`, which has the operator's key (GRIDHOOK_DATA); "+operatorKeyEnv+" is the key itself")
	flags.BoolVar(&g.json, "json", false, "print JSON")
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := g.takeEnvironment(cmd); err != nil {
			return err
		}
		return checkRequired(cmd)
	}
	return cmd
}

// forOrg adds the flag that names the organization.
func (g *globals) forOrg(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&g.org, "org", "", "the `organization` (GRIDHOOK_ORG)")
	_ = cmd.MarkFlagRequired("org") // it was added the line before
	return cmd
}

// takeEnvironment sets flags that were not given from their variables.
func (g *globals) takeEnvironment(cmd *cobra.Command) error {
	for _, name := range []string{"admin-url", "data", "org"} {
		flag, value := cmd.Flags().Lookup(name), g.getenv(config.EnvName(name))
		if flag == nil || flag.Changed || value == "" {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// checkRequired names the required flags that are missing, before cobra does in
// words of its own.
func checkRequired(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, required := f.Annotations[cobra.BashCompOneRequiredFlag]; required && !f.Changed {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) > 0 {
		return usagef("%s must be given", strings.Join(missing, " and "))
	}
	return nil
}

// connect makes a client with the operator's key, acting for --org where the
// command has it.
func (g *globals) connect() (*client.Client, error) {
	u, err := url.Parse(g.adminURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("--admin-url must be a URL such as %s, not %q", defaultAdminURL, g.adminURL)
	}
	key, err := g.operatorKey()
	if err != nil {
		return nil, err
	}
	return &client.Client{BaseURL: g.adminURL, Key: key, Organization: g.org}, nil
}

func (g *globals) operatorKey() (string, error) {
	if key := g.getenv(operatorKeyEnv); key != "" {
		return key, nil
	}
	path := g.keyPath()
	b, err := os.ReadFile(path) //nolint:gosec // the operator names the folder
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no operator's key at %s: say with --data where the server's data folder is, or set %s", path, operatorKeyEnv)
	case err != nil:
		return "", fmt.Errorf("the operator's key cannot be read: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", fmt.Errorf("the operator's key at %s is empty: delete the file and start the server again", path)
	}
	return key, nil
}

// keyPath is where the operator's key is looked for.
func (g *globals) keyPath() string {
	path := filepath.Join(g.data, operatorKeyFile)
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

func (g *globals) keySource() string {
	if g.getenv(operatorKeyEnv) != "" {
		return operatorKeyEnv
	}
	return g.keyPath()
}
