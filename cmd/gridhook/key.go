package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func newKeyCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "key", plural: "keys", path: "/v1/admin/keys", owned: true, scope: g.forOrg, derive: keyState,
		columns: "ID:keyId, SCOPES:scopes, STATE:state, EXPIRES:expiresAt, CREATED:createdAt, LAST USED:lastUsedAt, DESCRIPTION:description",
		fields:  "key:key, identifier:keyId, organization:organizationId, scopes:scopes, expires:expiresAt",
	}
	ofAny := r // the identifier alone names a key
	ofAny.owned, ofAny.scope = false, nil
	const note = "Store the key now: it cannot be shown again."
	return g.talks(group("key", "API keys of organizations",
		r.command(operation{
			use: "create", short: "Create a key and print it once", note: note,
			example: `  gridhook key create --org acme
  gridhook key create --org acme --scopes read,trigger --expires 2160h
  gridhook key create --org acme --json | jq -r .key`,
			flags: []bodyFlag{
				{name: "scopes", value: []string{}, help: "`scopes` of the key: read, write, trigger, homes:read, openadr:ven, openadr:bl (default read,write,trigger)", words: wire.Texts(storage.Scopes())},
				{name: "description", help: "`purpose` of the key"},
				{name: "expires", field: "expiresAt", value: instantText(""), help: "expiry: a `time` such as 2027-01-01T00:00:00Z, or a duration from now such as 2160h (default never)"},
			},
		}),
		r.list("List the keys of an organization", "  gridhook key list --org acme"),
		ofAny.command(operation{
			use: "revoke KEY", short: "Revoke a key immediately", takes: []string{"the key's identifier"},
			example: "  gridhook key revoke key_01JZ0000000000000000000000", done: "{id} is revoked.",
		}),
		ofAny.command(operation{
			use: "rotate KEY", short: "Create a replacement for a key; the old key expires after an overlap", takes: []string{"the key's identifier"}, note: note,
			example: "  gridhook key rotate key_01JZ0000000000000000000000 --overlap 1h",
			flags: []bodyFlag{
				{name: "overlap", field: "overlapSeconds", value: span{24 * time.Hour, time.Second}, help: "remaining lifetime of the old key"},
			},
		})))
}

// keyState adds the state of a key: live, revoked or expired.
func keyState(r record) {
	r["state"] = "live"
	if at, err := time.Parse(time.RFC3339, r.text("expiresAt")); err == nil && !time.Now().Before(at) {
		r["state"] = "expired"
	}
	if r.text("revokedAt") != "" {
		r["state"] = "revoked"
	}
}
