package main

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newConsoleCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "link", path: "/v1/console/links", scope: g.forOrg,
		fields: "identifier:keyId, organization:organizationId, scopes:scopes, expires:expiresAt",
	}
	var origin string
	r.below = func(w io.Writer, made record) {
		say(w, "\n%s%s\n", strings.TrimSuffix(cmp.Or(origin, g.apiURL, "http://127.0.0.1:8080"), "/"), made.text("path"))
	}
	link := r.command(operation{
		use: "link", path: "create", short: "Create a short-lived link to the console of an organization and print it once",
		example: `  gridhook console link --org acme
  gridhook console link --org acme --scopes read,trigger --lifetime 15m --origin https://gridhook.example.com`,
		flags: []bodyFlag{
			{name: "scopes", value: []string{}, help: "`scopes` of the link: read, write, trigger (default read)"},
			{name: "lifetime", field: "expiresMinutes", value: span{time.Hour, time.Minute}, help: "lifetime of the link in whole minutes, at most 24h"},
			{name: "description", help: "`person` whom the link is for"},
		},
	})
	link.Flags().StringVar(&origin, "origin", "", "`origin` of the public listener, as the person's browser reaches it (default --api-url, or http://127.0.0.1:8080)")
	return g.talks(group("console", "Links to the console", link,
		r.command(operation{
			use: "revoke LINK", short: "Revoke a link immediately, by the identifier of its key",
			example: "  gridhook console revoke key_01JZ0000000000000000000000 --org acme", done: "{id} is revoked.",
		})))
}
