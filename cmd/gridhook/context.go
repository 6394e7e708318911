package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/gridhook/gridhook/config"
)

// contextsEnv names the variable with the path of the contexts' file. The default is in
// the user's configuration folder.
const contextsEnv = "GRIDHOOK_CONTEXTS"

// contexts holds the user's servers by name.
type contexts struct {
	Current  string                       `yaml:"current,omitempty"`
	Contexts map[string]map[string]string `yaml:"contexts"`
}

// contextsPath returns the path of the contexts' file.
func (g *globals) contextsPath() (string, error) {
	if path := g.getenv(contextsEnv); path != "" {
		return path, nil
	}
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "gridhook", "contexts.yaml"), err
}

// readContexts reads the contexts' file. Without the file there are no contexts.
func (g *globals) readContexts() (c contexts, err error) {
	c.Contexts = map[string]map[string]string{}
	path, err := g.contextsPath()
	if err != nil {
		return c, nil //nolint:nilerr // a user without a folder has no contexts
	}
	text, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err == nil {
		err = yaml.Unmarshal(text, &c)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read the contexts: %s: %w", path, err)
	}
	if c.Contexts == nil {
		c.Contexts = map[string]map[string]string{}
	}
	return c, nil
}

// currentContext returns the selected context or the current one. It is empty if there is
// none.
func (g *globals) currentContext() (map[string]string, error) {
	c, err := g.readContexts()
	if err != nil {
		return nil, err
	}
	name := cmp.Or(g.context, c.Current)
	chosen, ok := c.Contexts[name]
	if name != "" && !ok {
		return nil, unknownContext(name, c)
	}
	return chosen, nil
}

func unknownContext(name string, c contexts) error {
	names := slices.Sorted(maps.Keys(c.Contexts))
	if near := config.Nearest(name, names); near != "" {
		return usagef("context %q not found: did you mean %s", name, near)
	}
	return usagef("context %q not found: create it with gridhook context add %s", name, name)
}

func newContextCommand(g *globals) *cobra.Command {
	cmd := group("context", "Contexts: names for servers and their credentials",
		newContextAdd(g),
		g.contextChange("use NAME", "Make a context the current one", "  gridhook context use production", func(c *contexts, name string) {
			c.Current = name
		}),
		newContextList(g),
		g.contextChange("delete NAME", "Delete a context", "  gridhook context delete production", func(c *contexts, name string) {
			delete(c.Contexts, name)
			if c.Current == name {
				c.Current = ""
			}
		}))
	cmd.Long = `A context stores the address of a server, the organization and the key. Flags and
environment variables override the context. If a flag or a variable names the server, by
its address or its data folder, the command ignores the whole context.

Contexts are in the file gridhook/contexts.yaml of your configuration folder, or in the
file that ` + contextsEnv + ` names. Only you can read the file, because it contains keys.`
	return cmd
}

func newContextAdd(g *globals) *cobra.Command {
	settings := []bodyFlag{
		{name: "admin-url", help: "admin `URL` of the server"},
		{name: "data", help: "the server's data `folder` with the operator's key"},
		{name: "org", help: "`organization` to act for"},
		{name: "api-url", help: "`URL` of the public API, to act as a partner"},
		{name: "operator-key-file", field: "operator-key", value: textFile, help: "`file` with the operator's key, - for standard input"},
		{name: "api-key-file", field: "api-key", value: textFile, help: "`file` with the partner's API key, - for standard input"},
	}
	var read func() (fields, error)
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Create or replace a context and make it the current one", Args: takes("the context's name"),
		Example: `  gridhook context add local --data /var/lib/gridhook --org acme
  gridhook context add production --admin-url https://gridhook.internal:8081 --operator-key-file operator.key
  gridhook context add partner --api-url https://gridhook.example.com --api-key-file api.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.readContexts()
			if err != nil {
				return err
			}
			values, err := read()
			if err != nil {
				return err
			}
			made := map[string]string{}
			for name, value := range values {
				made[name] = value.(string)
			}
			for _, name := range []string{"admin-url", "api-url"} {
				if _, err := parseURL(name, made[name]); given(cmd, name) && err != nil {
					return err
				}
			}
			if folder := made["data"]; folder != "" {
				if made["data"], err = filepath.Abs(folder); err != nil {
					return err
				}
			}
			c.Contexts[args[0]], c.Current = made, args[0]
			return g.saveContexts(c)
		},
	}
	read = addFlags(cmd, settings)
	cmd.MarkFlagsMutuallyExclusive("admin-url", "api-url")
	cmd.MarkFlagsOneRequired("admin-url", "data", "api-url")
	return cmd
}

// saveContexts replaces the file of the contexts and prints the current one.
func (g *globals) saveContexts(c contexts) error {
	path, err := g.contextsPath()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(c)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		_, err = saveFile(path, bytes.NewReader(text))
	}
	if err == nil && c.Current != "" {
		say(g.out, "The current context is %s.\n", c.Current)
	}
	return err
}

// contextChange returns a command that changes the contexts.
func (g *globals) contextChange(use, short, example string, change func(*contexts, string)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: takes("the context's name"),
		ValidArgsFunction: g.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := g.readContexts()
			if err != nil {
				return err
			}
			if c.Contexts[args[0]] == nil {
				return unknownContext(args[0], c)
			}
			change(&c, args[0])
			return g.saveContexts(c)
		},
	}
}

// completeContexts returns the names of the contexts for shell completion.
func (g *globals) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, _ := g.readContexts() // without contexts there is nothing to complete
	return slices.Sorted(maps.Keys(c.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

func newContextList(g *globals) *cobra.Command {
	contexts := resource{g: g, plural: "contexts", columns: "CURRENT:current, NAME:name, SERVER:server, AS:as, ORGANIZATION:organization"}
	cmd := &cobra.Command{
		Use: "list", Short: "List the contexts without their keys", Args: takes(), Example: "  gridhook context list",
		RunE: func(*cobra.Command, []string) error {
			c, err := g.readContexts()
			if err != nil {
				return err
			}
			shown := []record{}
			for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
				context := c.Contexts[name]
				r := record{"name": name, "current": name == c.Current, "as": "operator", "server": cmp.Or(context["admin-url"], defaultAdminURL)}
				if context["api-url"] != "" {
					r["as"], r["server"] = "partner", context["api-url"]
				}
				if context["org"] != "" {
					r["organization"] = context["org"]
				}
				shown = append(shown, r)
			}
			return contexts.showAll(shown)
		},
	}
	g.outputFlags(cmd.Flags())
	return cmd
}
