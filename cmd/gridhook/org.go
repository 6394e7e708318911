package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newOrgCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "organization", plural: "organizations", path: "/v1/admin/organizations",
		columns: "ID:id, NAME:name, SUSPENDED:suspended, CREATED:createdAt", more: "ACTS FOR:childOrganizationIds",
		fields: "organization:id, name:name, acts for:childOrganizationIds, suspended:suspended, created:createdAt",
	}
	return g.talks(group("org", "Organizations: the partners of the service",
		r.command(operation{
			use: "create", short: "Create an organization",
			example: `  gridhook org create --id acme --name "Acme Energy"
  gridhook org create --id channel --name "Channel Partner" --child acme --child beta`,
			flags: []bodyFlag{
				{name: "id", help: "`identifier` of the organization (default generated)"},
				{name: "name", help: "`name` of the organization", required: true},
				{name: "child", field: "childOrganizationIds", value: []string{}, help: "child `organization` that the organization's keys may act for; repeatable"},
			},
		}),
		r.command(operation{
			use: "update ORG", short: "Change, suspend or resume an organization",
			example: `  gridhook org update acme --name "Acme Power"
  gridhook org update acme --suspended
  gridhook org update acme --suspended=false`,
			flags: []bodyFlag{
				{name: "name", help: "`name` of the organization"},
				{name: "child", field: "childOrganizationIds", value: []string{}, help: "child `organization` that the organization's keys may act for; repeatable; replaces all current children"},
				{name: "suspended", value: false, help: "suspension: keys are refused, schedules and deliveries stop until --suspended=false"},
			},
		}),
		r.list("List the organizations", "  gridhook org list --json"),
		r.command(operation{use: "get ORG", short: "Show an organization", example: "  gridhook org get acme"}),
		r.command(operation{
			use: "usage ORG", short: "Show what an organization takes up", example: "  gridhook org usage acme",
			fields: "homes:homes, devices:devices, endpoints:endpoints, schedules:schedules, keys:keys, stored bytes:storedBytes, waiting triggers:waitingTriggers, history bytes:historyBytes, deliveries:deliveries",
		}),
		newOrgExport(g, r),
		newOrgDelete(r)))
}

// newOrgExport returns the command that prints an organization as lines of an import.
func newOrgExport(g *globals, orgs resource) *cobra.Command {
	return orgs.run(operation{
		use: "export ORG", short: "Print an organization as a file to import", path: "{id}/export",
		long: `Print everything of an organization that "gridhook import" takes, one resource a line.

Secrets are masked. An import into the same server keeps them. On another server,
replace the masks first; keys and endpoints get new secrets. Revoked and expired keys,
replays and deliveries are not in the file.`,
		example: "  gridhook org export acme > acme.ndjson",
	}, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		_, err := client.All(cmd.Context(), func(ctx context.Context, p client.Page) ([]struct{}, string, error) {
			body["limit"] = p.Limit
			if p.After != "" {
				body["after"] = p.After
			}
			lines, next, err := client.List[json.RawMessage](ctx, c, orgs.at("{id}/export", args), body)
			for _, line := range lines {
				if err == nil {
					_, err = fmt.Fprintf(g.out, "%s\n", line)
				}
			}
			return nil, next, err
		})
		return err
	})
}

// newOrgDelete returns the command that deletes an organization.
func newOrgDelete(orgs resource) *cobra.Command {
	return orgs.run(operation{
		use: "delete ORG", path: "{id}/delete", short: "Delete an organization and erase its records",
		long: `Delete an organization with its keys, homes, devices, plans, endpoints and schedules,
and overwrite its records. This cannot be undone.

At once its keys are refused, and nothing of it can be read or sent. Its triggers and
receipts pass their retention until the time that the receipt calls "erased by". Until
then the identifier cannot be used again. An interrupted command may be repeated.

Feedback belongs to you and stays. The receipt lists submissions that may be about the
organization: "gridhook feedback delete" erases one.`,
		example: "  gridhook org delete acme --confirm acme",
		flags:   []bodyFlag{{name: "confirm", help: "`identifier` of the organization, again; required", required: true}},
	}, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		receipt, err := eraseAll(cmd.Context(), c, orgs.at("{id}/delete", args), body)
		if err != nil {
			return err
		}
		return orgs.show(receipt, operation{fields: "deleted:id, erased records:records, erased by:erasedBy, feedback to review:feedback"})
	})
}

// eraseAll repeats the deletion until it is complete. It returns the last receipt with the
// records of all.
func eraseAll(ctx context.Context, c *client.Client, path string, body fields) (receipt client.Erased, err error) {
	records, feedback := map[storage.Kind]int{}, []string(nil)
	for !receipt.Complete && err == nil {
		receipt, err = client.Call[client.Erased](ctx, c, path, body)
		feedback = append(feedback, receipt.Feedback...)
		for kind, n := range receipt.Records {
			records[kind] += n
		}
	}
	receipt.Records, receipt.Feedback = records, feedback
	return receipt, err
}
