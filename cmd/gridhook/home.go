package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

func newHomeCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "home", plural: "homes", path: "/v1/admin/homes", owned: true, scope: g.forOrg, derive: joinAddress,
		columns: "ID:id, NAME:name, PLAN:ratePlanId, TIMEZONE:timezone, ZIPCODE:zipcode, CARBON:carbonSignalIntensity, ENABLED:enabled",
		more:    "UTILITY:UtilityId, USER:userId, CREATED:createdAt, UPDATED:updatedAt",
		below: func(w io.Writer, home record) {
			printBelow(w, home["measuredMonths"], "MEASURED MONTH:month, FROM GRID:kwh:kWh, TO GRID:exportKwh:kWh, MISSING:missingHours:h")
		},
		fields: "home:id, organization:organizationId, name:name, rate plan:ratePlanId, time zone:timezone, address:address, " +
			"carbon:carbonSignalIntensity, enabled:enabled, solar:solar.solarSystemSizeKw:kW, application:solar.applicationDate, " +
			"connection:solar.connectionYear, not net metered:solar.isNonNetMetered, export values:solar.exportValues, created:createdAt, updated:updatedAt",
	}
	partners := r // a partner's key may list and read homes too
	partners.path, partners.owned = "/v1/homes", false
	return g.talks(group("home", "Homes of organizations",
		r.command(operation{
			use: "create", short: "Create a home",
			example: `  gridhook home create --org acme --id home-1 --plan pge-e-elec --timezone America/Los_Angeles --zipcode 94103
  gridhook import --org acme homes.csv   # for many`,
			flags: slices.Concat([]bodyFlag{{name: "id", help: "`identifier` of the home (default generated)"}}, homeFlags()),
			after: g.warnUnpriceable,
		}),
		partners.list("List or search the homes of an organization", `  gridhook home list --org acme --json
  gridhook home list --org acme --plan pge-e-elec --search "lake street"`,
			bodyFlag{name: "plan", field: "ratePlanId", help: "rate `plan` of the homes to list (default all)"},
			bodyFlag{name: "search", help: "`text` in the id, name, user, zipcode, city or street of the homes to list"}),
		r.command(operation{
			use: "update HOME", short: "Change the fields that the flags name, from the next price signal on",
			example: `  gridhook home update home-1 --org acme --plan pge-e-elec
  gridhook home update home-1 --org acme --timezone America/Los_Angeles --zipcode 94103`,
			flags: append(homeFlags(), bodyFlag{name: "enabled", value: true, help: "whether the home is to be optimized"}),
			after: g.warnUnpriceable,
		}),
		partners.get("Show a home", "  gridhook home get home-1 --org acme"),
		r.remove("Delete a home", "  gridhook home delete home-1 --org acme")))
}

// warnUnpriceable warns if a stored home has no price signal, for example because its rate plan
// does not exist yet, or if its zipcode is unknown.
func (g *globals) warnUnpriceable(ctx context.Context, c *client.Client, response json.RawMessage) (json.RawMessage, error) {
	home, err := convert[client.Home](response)
	if err != nil {
		return nil, err
	}
	if unknownZipcode(home.Zipcode, home.Country) {
		say(g.err, "warning: the zipcode %s is unknown\n", home.Zipcode)
	}
	_, err = c.For(home.OrganizationID).PriceSignal(ctx, home.ID, client.Window{})
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == client.CodeValidationFailed {
		for _, field := range refused.FieldErrors {
			say(g.err, "warning: the home has no price signal: %s\n", field.Message)
		}
	}
	return response, nil
}

// homeFlags are the flags of a home's fields.
func homeFlags() []bodyFlag {
	return []bodyFlag{
		{name: "name", help: "`name` of the home"},
		{name: "plan", field: "ratePlanId", help: "rate `plan` of the home; a home without a plan has no price"},
		{name: "timezone", help: "IANA time `zone`, such as America/Chicago"},
		{name: "zipcode", help: "`zipcode` of the home"},
		{name: "city", help: "`city` of the home"},
		{name: "street", field: "streetAddress", help: "street `address` of the home"},
		{name: "country", help: "`country` of the home (default US)"},
		{name: "utility", field: "UtilityId", help: "`identifier` of the home's utility"},
		{name: "user", field: "userId", help: "`identifier` of the home's user"},
		{
			name: "carbon", field: "carbonSignalIntensity", words: []string{"LOW", "MEDIUM", "HIGH"},
			help: "`weight` of carbon emissions in the price: LOW, MEDIUM or HIGH (default LOW)",
		},
	}
}

// joinAddress adds the address of a home in one line.
func joinAddress(r record) {
	parts := []string{r.text("streetAddress"), r.text("city"), r.text("zipcode"), r.text("country")}
	line := strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
	r["address"] = cmp.Or(r.text("unstructuredAddress"), line)
}
