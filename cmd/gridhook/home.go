package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newHomeCommand(g *globals) *cobra.Command {
	r := resource[client.Home]{
		g: g, noun: "home", plural: "homes", path: "/v1/admin/homes", owned: true, scope: g.forOrg, show: showHome,
		columns: []any{"ID", "NAME", "PLAN", "TIMEZONE", "ZIPCODE", "CARBON", "ENABLED"}, more: []any{"UTILITY", "USER", "CREATED", "UPDATED"},
		cells: func(h client.Home) []any {
			return []any{
				h.ID, or(h.Name), or(h.RatePlanID), or(h.Timezone), or(h.Zipcode), h.CarbonSignalIntensity, h.Enabled,
				or(h.UtilityID), or(h.UserID), moment(h.CreatedAt), moment(h.UpdatedAt),
			}
		},
	}
	return g.talks(group("home", "Homes of organizations",
		r.command(operation[client.Home]{
			use: "create", short: "Make a home",
			example: `  gridhook home create --org acme --id home-1 --plan pge-e-elec --timezone America/Los_Angeles --zipcode 94103
  gridhook import --org acme homes.csv   # for many`,
			flags: homeFlags(),
		}),
		r.list("List the homes of an organization", `  gridhook home list --org acme --json
  gridhook home list --org acme --plan pge-e-elec`,
			bodyFlag{name: "plan", field: "ratePlanId", value: "", help: "the rate `plan` whose homes alone are listed"}),
		r.get("Show a home", "  gridhook home get home-1 --org acme"),
		r.remove("Remove a home", "  gridhook home delete home-1 --org acme")))
}

// homeFlags are the flags of a home's fields.
func homeFlags() []bodyFlag {
	return []bodyFlag{
		{name: "id", field: "id", value: "", help: "its `identifier`; by default one is made"},
		{name: "name", field: "name", value: "", help: "its `name`"},
		{name: "plan", field: "ratePlanId", value: "", help: "its rate `plan`, without which it has no price"},
		{name: "timezone", field: "timezone", value: "", help: "its time `zone`, such as America/Chicago"},
		{name: "zipcode", field: "zipcode", value: "", help: "its `zipcode`"},
		{name: "city", field: "city", value: "", help: "its `city`"},
		{name: "street", field: "streetAddress", value: "", help: "its street `address`"},
		{name: "country", field: "country", value: "", help: "its `country`, by default US"},
		{name: "utility", field: "UtilityId", value: "", help: "its utility's `identifier`"},
		{name: "user", field: "userId", value: "", help: "its user's `identifier`"},
		{
			name: "carbon", field: "carbonSignalIntensity", value: "", words: []string{"LOW", "MEDIUM", "HIGH"},
			help: "how much the price follows emissions: LOW, MEDIUM or HIGH; by default LOW",
		},
	}
}

func showHome(w io.Writer, h client.Home) {
	row(w, "home", h.ID)
	row(w, "organization", h.OrganizationID)
	row(w, "name", or(h.Name))
	row(w, "rate plan", or(h.RatePlanID))
	row(w, "time zone", or(h.Timezone))
	row(w, "address", or(address(h.Home)))
	row(w, "carbon", h.CarbonSignalIntensity)
	row(w, "enabled", h.Enabled)
	row(w, "created", moment(h.CreatedAt))
	row(w, "updated", moment(h.UpdatedAt))
}

// address formats a home's address in one line.
func address(h storage.Home) string {
	if h.UnstructuredAddress != nil {
		return *h.UnstructuredAddress
	}
	var line string
	for _, part := range []string{h.StreetAddress, h.City, h.Zipcode, h.Country} {
		if part != "" && line != "" {
			line += ", "
		}
		line += part
	}
	return line
}
