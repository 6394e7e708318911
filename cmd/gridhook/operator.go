package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func newOperatorCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "operator key", plural: "operator keys", path: "/v1/admin/operator_keys", derive: keyState,
		columns: "ID:keyId, NAME:name, ROLE:role, STATE:state, EXPIRES:expiresAt, CREATED:createdAt",
		fields:  "key:key, identifier:keyId, name:name, role:role, expires:expiresAt",
	}
	return g.talks(group("operator", "Operator keys: who may operate this server",
		r.command(operation{
			use: "create", short: "Create an operator key and print it once", note: "Store the key now: it cannot be shown again.",
			example: `  gridhook operator create --name ada --role admin
  gridhook operator create --name dashboard --role read --expires 2160h`,
			flags: []bodyFlag{
				{name: "name", help: "`owner` of the key, for the audit log", required: true},
				{name: "role", help: "`role` of the key: read, operate or admin; each includes the roles before it", words: wire.Texts(storage.Roles()), required: true},
				{name: "expires", field: "expiresAt", value: instantText(""), help: "expiry: a `time` such as 2027-01-01T00:00:00Z, or a duration from now such as 2160h (default never)"},
			},
		}),
		r.list("List the operator keys", "  gridhook operator list"),
		r.command(operation{
			use: "revoke OPERATOR_KEY", short: "Revoke an operator key immediately", takes: []string{"the key's identifier"},
			example: "  gridhook operator revoke opk_01JZ0000000000000000000000", done: "{id} is revoked.",
		})))
}
