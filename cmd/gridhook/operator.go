package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func newOperatorCommand(g *globals) *cobra.Command {
	r := resource[wire.OperatorKeyWithText]{
		g: g, noun: "operator key", plural: "operator keys", path: "/v1/admin/operator_keys", show: showNewOperatorKey,
		columns: []any{"ID", "NAME", "ROLE", "STATE", "EXPIRES", "CREATED"},
		cells: func(k wire.OperatorKeyWithText) []any {
			state := keyState(client.Key{Key: wire.Key{ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt}}, time.Now())
			return []any{k.ID, k.Name, k.Role, state, moment(k.ExpiresAt), moment(k.CreatedAt)}
		},
	}
	return g.talks(group("operator", "Operator keys: who may operate this server",
		r.command(operation[wire.OperatorKeyWithText]{
			use: "create", short: "Make an operator key, and print it this once",
			example: `  gridhook operator create --name ada --role admin
  gridhook operator create --name dashboard --role read --expires 2160h`,
			flags: []bodyFlag{
				{name: "name", field: "name", value: "", help: "whose key it is, for the audit log", required: true},
				{name: "role", field: "role", value: "", help: "read, operate or admin: each may also do what those before it may", words: texts(storage.Roles()), required: true},
				{name: "expires", field: "expiresAt", value: instantText(""), help: "when it ends: a `time` such as 2027-01-01T00:00:00Z, or a duration from now such as 2160h"},
			},
		}),
		r.list("List the operator keys", "  gridhook operator list"),
		r.command(operation[wire.OperatorKeyWithText]{
			use: "revoke KEY", short: "End an operator key at once", takes: []string{"the key's identifier"},
			example: "  gridhook operator revoke opk_01JZ0000000000000000000000",
			show:    func(w io.Writer, k wire.OperatorKeyWithText) { row(w, fmt.Sprintf("%s is revoked.", k.ID)) },
		})))
}

// showNewOperatorKey prints a key with its text. The text cannot be shown again.
func showNewOperatorKey(w io.Writer, k wire.OperatorKeyWithText) {
	row(w, "key", k.Text)
	row(w, "identifier", k.ID)
	row(w, "name", k.Name)
	row(w, "role", k.Role)
	row(w, "expires", moment(k.ExpiresAt))
	say(w, "\nKeep the key now: it is not stored and cannot be shown again.\n")
}
