package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
		return c, fmt.Errorf("the contexts cannot be read: %s: %w", path, err)
	}
	if c.Contexts == nil {
		c.Contexts = map[string]map[string]string{}
	}
	return c, nil
}

// write replaces the whole file. It contains keys, so only its owner may read it.
func (c contexts) write(path string) error {
	text, err := yaml.Marshal(c)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// currentContext returns the selected context or the current one. It is empty if there is
// none.
func (g *globals) currentContext() (map[string]string, error) {
	c, err := g.readContexts()
	if err != nil {
		return nil, err
	}
	name := g.context
	if name == "" {
		name = c.Current
	}
	chosen, ok := c.Contexts[name]
	if name != "" && !ok {
		return nil, unknownContext(name, c)
	}
	return chosen, nil
}

func unknownContext(name string, c contexts) error {
	names := slices.Sorted(maps.Keys(c.Contexts))
	if near := config.Nearest(name, names); near != "" {
		return usagef("there is no context %q: did you mean %s", name, near)
	}
	return usagef("there is no context %q: gridhook context add %s makes it", name, name)
}

func newContextCommand(g *globals) *cobra.Command {
	cmd := group("context", "Contexts: the servers that you work with, by name",
		newContextAdd(g),
		g.contextChange("use NAME", "Use a context from now on", "  gridhook context use production", func(c *contexts, name string) {
			c.Current = name
		}),
		newContextList(g),
		g.contextChange("delete NAME", "Forget a context", "  gridhook context delete production", func(c *contexts, name string) {
			delete(c.Contexts, name)
			if c.Current == name {
				c.Current = ""
			}
		}))
	cmd.Long = `A context keeps where a server is, whose organization is meant, and the key. Commands
take from it what no flag and no variable of the environment says. A server that is named by
a flag or a variable is taken without a context.

The file is contexts.yaml in the folder gridhook of your configurations, or the one that
` + contextsEnv + ` names. Only you can read it, as it has keys.`
	return cmd
}

func newContextAdd(g *globals) *cobra.Command {
	said := map[string]*string{}
	var operatorKeyFile, apiKeyFile string
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make or replace a context, and use it", Args: takes("the context's name"),
		Example: `  gridhook context add local --data /var/lib/gridhook --org acme
  gridhook context add production --admin-url https://gridhook.internal:8081 --operator-key-file operator.key
  gridhook context add partner --api-url https://gridhook.example.com --api-key-file api.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := g.readContexts()
			if err != nil {
				return err
			}
			made := map[string]string{}
			for name, value := range said {
				if *value != "" {
					made[name] = *value
				}
			}
			for name, file := range map[string]string{"operator-key": operatorKeyFile, "api-key": apiKeyFile} {
				if file == "" {
					continue
				}
				text, err := g.readFile(file)
				if err != nil {
					return err
				}
				made[name] = strings.TrimSpace(string(text))
			}
			if folder := made["data"]; folder != "" {
				if made["data"], err = filepath.Abs(folder); err != nil {
					return err
				}
			}
			c.Contexts[args[0]], c.Current = made, args[0]
			return g.keepContexts(c)
		},
	}
	for _, f := range [][2]string{
		{"admin-url", "the admin `address` of the server"}, {"data", "the server's data `folder`, which has the operator's key"},
		{"org", "the `organization`"}, {"api-url", "the `address` of the public API, to act as a partner"},
	} {
		said[f[0]] = cmd.Flags().String(f[0], "", f[1])
	}
	cmd.Flags().StringVar(&operatorKeyFile, "operator-key-file", "", "a `file` with the operator's key, - for standard input")
	cmd.Flags().StringVar(&apiKeyFile, "api-key-file", "", "a `file` with the partner's API key, - for standard input")
	cmd.MarkFlagsMutuallyExclusive("admin-url", "api-url")
	cmd.MarkFlagsOneRequired("admin-url", "data", "api-url")
	return cmd
}

// keepContexts writes the contexts and prints the current one.
func (g *globals) keepContexts(c contexts) error {
	path, err := g.contextsPath()
	if err == nil {
		err = c.write(path)
	}
	if err == nil && c.Current != "" {
		say(g.out, "The context %s is in use.\n", c.Current)
	}
	return err
}

// contextChange returns a command that changes the contexts.
func (g *globals) contextChange(use, short, example string, change func(*contexts, string)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: takes("the context's name"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			c, _ := g.readContexts() // without contexts there is nothing to complete
			return slices.Sorted(maps.Keys(c.Contexts)), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := g.readContexts()
			if err != nil {
				return err
			}
			if c.Contexts[args[0]] == nil {
				return unknownContext(args[0], c)
			}
			change(&c, args[0])
			return g.keepContexts(c)
		},
	}
}

// shownContext is a context in the list, without its keys.
type shownContext struct {
	Name         string `json:"name"`
	Current      bool   `json:"current"`
	Server       string `json:"server"`
	As           string `json:"as"`
	Organization string `json:"organization,omitempty"`
}

func newContextList(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the contexts, without their keys", Args: takes(), Example: "  gridhook context list",
		RunE: func(*cobra.Command, []string) error {
			c, err := g.readContexts()
			if err != nil {
				return err
			}
			shown := []shownContext{}
			for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
				one := c.Contexts[name]
				s := shownContext{Name: name, Current: name == c.Current, Server: one["api-url"], As: "partner", Organization: one["org"]}
				if s.Server == "" {
					s.Server, s.As = one["admin-url"], "operator"
				}
				if s.Server == "" {
					s.Server = defaultAdminURL
				}
				shown = append(shown, s)
			}
			return showList(g, shown, "contexts", []any{"", "NAME", "SERVER", "AS", "ORGANIZATION"}, nil, func(s shownContext) []any {
				return []any{map[bool]string{true: "*"}[s.Current], s.Name, s.Server, s.As, or(s.Organization)}
			})
		},
	}
	g.outputFlags(cmd.Flags())
	return cmd
}
