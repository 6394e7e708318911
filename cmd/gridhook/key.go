package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newKeyCommand(g *globals) *cobra.Command {
	return g.talks(group("key", "API keys of organizations", newKeyCreate(g), newKeyList(g), newKeyRevoke(g), newKeyRotate(g)))
}

func newKeyCreate(g *globals) *cobra.Command {
	var (
		scopes               []string
		description, expires string
	)
	cmd := &cobra.Command{
		Use: "create", Short: "Make a key, and print it this once", Args: takes(),
		Example: `  gridhook key create --org acme
  gridhook key create --org acme --scopes read,trigger --expires 2160h
  gridhook key create --org acme --json | jq -r .key`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			expiresAt, err := instant("--expires", expires, time.Now())
			if err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			k := client.NewKey{OrganizationID: g.org, Description: description, ExpiresAt: expiresAt}
			for _, s := range scopes {
				k.Scopes = append(k.Scopes, storage.Scope(s))
			}
			made, err := c.CreateKey(cmd.Context(), k)
			if err != nil {
				return err
			}
			return g.showNewKey(made)
		},
	}
	cmd.Flags().StringSliceVar(&scopes, "scopes", nil, "what it may do: read, write, trigger; by default all")
	completesAny(cmd, "scopes", storage.Scopes())
	cmd.Flags().StringVar(&description, "description", "", "what it is for")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: a `time` such as 2027-01-01T00:00:00Z, or a duration from now such as 2160h")
	return g.forOrg(cmd)
}

// showNewKey prints a key with its text, which nobody can show again.
func (g *globals) showNewKey(k client.Key) error {
	return g.show(k, func(w io.Writer) {
		row(w, "key", k.Text)
		row(w, "identifier", k.ID)
		row(w, "organization", k.OrganizationID)
		row(w, "scopes", scopeList(k.Scopes))
		row(w, "expires", moment(k.ExpiresAt))
		say(w, "\nKeep the key now: it is not stored and cannot be shown again.\n")
	})
}

func newKeyList(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "list", Short: "List the keys of an organization",
		Example: `  gridhook key list --org acme`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), func(ctx context.Context, p client.Page) ([]client.Key, string, error) {
				return c.Keys(ctx, g.org, p)
			})
			if err != nil {
				return err
			}
			header := []any{"ID", "SCOPES", "STATE", "EXPIRES", "CREATED", "LAST USED", "DESCRIPTION"}
			return showList(g, all, "keys", header, func(k client.Key) []any {
				return []any{k.ID, scopeList(k.Scopes), keyState(k, time.Now()), moment(k.ExpiresAt), moment(k.CreatedAt), moment(k.LastUsedAt), or(k.Description)}
			})
		},
	})
}

func newKeyRevoke(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "revoke KEY", Short: "End a key at once", Args: takes("the key's identifier"),
		Example: `  gridhook key revoke key_01JZ0000000000000000000000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			k, err := c.RevokeKey(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.show(k, func(w io.Writer) { row(w, fmt.Sprintf("%s is revoked.", k.ID)) })
		},
	}
}

func newKeyRotate(g *globals) *cobra.Command {
	var overlap time.Duration
	cmd := &cobra.Command{
		Use: "rotate KEY", Short: "Make a new key in the place of one that goes on for a while", Args: takes("the key's identifier"),
		Example: `  gridhook key rotate key_01JZ0000000000000000000000 --overlap 1h`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			seconds := int(overlap / time.Second)
			k, err := c.RotateKey(cmd.Context(), args[0], client.Rotation{OverlapSeconds: &seconds})
			if err != nil {
				return err
			}
			return g.showNewKey(k)
		},
	}
	cmd.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old key goes on")
	return cmd
}

func scopeList(scopes []storage.Scope) string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return strings.Join(texts, ",")
}

func keyState(k client.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt.Time):
		return "expired"
	}
	return "live"
}
