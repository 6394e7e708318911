package main

import "github.com/spf13/cobra"

func newOrgCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "organization", plural: "organizations", path: "/v1/admin/organizations",
		columns: "ID:id, NAME:name, CREATED:createdAt", more: "ACTS FOR:childOrganizationIds, SUSPENDED:suspended",
		fields: "organization:id, name:name, acts for:childOrganizationIds, suspended:suspended, created:createdAt",
	}
	return g.talks(group("org", "Organizations: the partners of the service",
		r.command(operation{
			use: "create", short: "Create an organization",
			example: `  gridhook org create --id acme --name "Acme Energy"
  gridhook org create --id channel --name "Channel Partner" --child acme --child beta`,
			flags: []bodyFlag{
				{name: "id", field: "id", value: "", help: "`identifier` of the organization (default generated)"},
				{name: "name", field: "name", value: "", help: "`name` of the organization", required: true},
				{name: "child", field: "childOrganizationIds", value: []string{}, help: "child `organization` that the organization's keys may act for; repeatable"},
			},
		}),
		r.command(operation{
			use: "update ORG", short: "Change, suspend or resume an organization",
			example: `  gridhook org update acme --name "Acme Power"
  gridhook org update acme --suspended
  gridhook org update acme --suspended=false`,
			flags: []bodyFlag{
				{name: "name", field: "name", value: "", help: "`name` of the organization"},
				{name: "child", field: "childOrganizationIds", value: []string{}, help: "child `organization` that the organization's keys may act for; repeatable; replaces all current children"},
				{name: "suspended", field: "suspended", value: false, help: "suspension: keys are refused, schedules and deliveries stop until --suspended=false"},
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
