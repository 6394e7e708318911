package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newKeyCommand(g *globals) *cobra.Command {
	r := resource[client.Key]{
		g: g, noun: "key", plural: "keys", path: "/v1/admin/keys", owned: true, scope: g.forOrg, show: showNewKey,
		columns: []any{"ID", "SCOPES", "STATE", "EXPIRES", "CREATED", "LAST USED", "DESCRIPTION"},
		cells: func(k client.Key) []any {
			return []any{k.ID, list(k.Scopes), keyState(k, time.Now()), moment(k.ExpiresAt), moment(k.CreatedAt), moment(k.LastUsedAt), or(k.Description)}
		},
	}
	ofAny := r // the identifier alone names a key
	ofAny.owned, ofAny.scope = false, nil
	return g.talks(group("key", "API keys of organizations",
		r.command(operation[client.Key]{
			use: "create", short: "Make a key, and print it this once",
			example: `  gridhook key create --org acme
  gridhook key create --org acme --scopes read,trigger --expires 2160h
  gridhook key create --org acme --json | jq -r .key`,
			flags: []bodyFlag{
				{name: "scopes", field: "scopes", value: []string{}, help: "what it may do: read, write, trigger; by default all", words: texts(storage.Scopes())},
				{name: "description", field: "description", value: "", help: "what it is for"},
				{name: "expires", field: "expiresAt", value: instantText(""), help: "when it ends: a `time` such as 2027-01-01T00:00:00Z, or a duration from now such as 2160h"},
			},
		}),
		r.list("List the keys of an organization", "  gridhook key list --org acme"),
		ofAny.command(operation[client.Key]{
			use: "revoke KEY", short: "End a key at once", takes: []string{"the key's identifier"},
			example: "  gridhook key revoke key_01JZ0000000000000000000000",
			show:    func(w io.Writer, k client.Key) { row(w, fmt.Sprintf("%s is revoked.", k.ID)) },
		}),
		ofAny.command(operation[client.Key]{
			use: "rotate KEY", short: "Make a new key in the place of one that goes on for a while", takes: []string{"the key's identifier"},
			example: "  gridhook key rotate key_01JZ0000000000000000000000 --overlap 1h",
			flags: []bodyFlag{
				{name: "overlap", field: "overlapSeconds", value: span{24 * time.Hour, time.Second}, help: "how long the old key goes on"},
			},
		})))
}

// showNewKey prints a key with its text. The text cannot be shown again.
func showNewKey(w io.Writer, k client.Key) {
	row(w, "key", k.Text)
	row(w, "identifier", k.ID)
	row(w, "organization", k.OrganizationID)
	row(w, "scopes", list(k.Scopes))
	row(w, "expires", moment(k.ExpiresAt))
	say(w, "\nKeep the key now: it is not stored and cannot be shown again.\n")
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
