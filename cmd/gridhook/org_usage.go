package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/wire"
)

// newOrgUsage returns the command that shows what an organization takes up.
func newOrgUsage(g *globals, orgs *cobra.Command) *cobra.Command {
	r := resource[wire.OrganizationUsage]{
		g: g, noun: "organization", plural: "organizations", path: "/v1/admin/organizations",
		show: func(w io.Writer, u wire.OrganizationUsage) {
			row(w, "homes", u.Homes)
			row(w, "devices", u.Devices)
			row(w, "endpoints", u.Endpoints)
			row(w, "schedules", u.Schedules)
			row(w, "keys", u.Keys)
			row(w, "records", bytesText(u.StoredBytes))
			row(w, "waiting triggers", u.WaitingTriggers)
			row(w, "history", bytesText(u.HistoryBytes))
			row(w, "deliveries", u.Deliveries)
		},
	}
	cmd := r.command(operation[wire.OrganizationUsage]{
		use: "usage ORG", short: "Show what an organization takes up", example: "  gridhook org usage acme",
	})
	cmd.ValidArgsFunction = orgs.ValidArgsFunction
	return cmd
}
