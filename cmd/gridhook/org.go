package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/storage"
)

func newOrgCommand(g *globals) *cobra.Command {
	r := resource[storage.Organization]{
		g: g, noun: "organization", plural: "organizations", path: "/v1/admin/organizations", show: showOrg,
		columns: []any{"ID", "NAME", "CREATED"}, more: []any{"ACTS FOR"},
		cells: func(o storage.Organization) []any {
			return []any{o.ID, o.Name, moment(o.CreatedAt), list(o.ChildOrganizationIDs)}
		},
	}
	get := r.get("Show an organization", "  gridhook org get acme")
	get.Use = "get ORG"
	return g.talks(group("org", "Organizations: the partners of the service",
		r.command(operation[storage.Organization]{
			use: "create", short: "Make an organization",
			example: `  gridhook org create --id acme --name "Acme Energy"
  gridhook org create --id channel --name "Channel Partner" --child acme --child beta`,
			flags: []bodyFlag{
				{name: "id", field: "id", value: "", help: "its `identifier`; by default one is made"},
				{name: "name", field: "name", value: "", help: "its `name`", required: true},
				{name: "child", field: "childOrganizationIds", value: []string{}, help: "an `organization` that its keys may act for; may be repeated"},
			},
		}),
		r.command(operation[storage.Organization]{
			use: "update ORG", short: "Change, suspend or resume an organization",
			example: `  gridhook org update acme --name "Acme Power"
  gridhook org update acme --suspended
  gridhook org update acme --suspended=false`,
			flags: []bodyFlag{
				{name: "name", field: "name", value: "", help: "its `name`"},
				{name: "child", field: "childOrganizationIds", value: []string{}, help: "an `organization` that its keys may act for, in place of those before; may be repeated"},
				{name: "suspended", field: "suspended", value: false, help: "refuse its keys, run no schedules and send it nothing, until --suspended=false"},
			},
		}),
		r.list("List the organizations", "  gridhook org list --json"), get, newOrgUsage(g, get), newOrgExport(g, r)))
}

func showOrg(w io.Writer, o storage.Organization) {
	row(w, "organization", o.ID)
	row(w, "name", o.Name)
	for _, child := range o.ChildOrganizationIDs {
		row(w, "acts for", child)
	}
	if o.Suspended {
		row(w, "suspended", "yes")
	}
	row(w, "created", moment(o.CreatedAt))
}
