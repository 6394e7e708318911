package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newHomeCommand(g *globals) *cobra.Command {
	return g.talks(group("home", "Homes of organizations", newHomeCreate(g), newHomeList(g), newHomeGet(g), newHomeDelete(g)))
}

func newHomeCreate(g *globals) *cobra.Command {
	var h client.NewHome
	cmd := &cobra.Command{
		Use: "create", Short: "Make a home", Args: takes(),
		Example: `  gridhook home create --org acme --id home-1 --plan pge-e-elec --timezone America/Los_Angeles --zipcode 94103
  gridhook import --org acme homes.csv   # for many`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			h.OrganizationID = g.org
			made, err := c.CreateHome(cmd.Context(), h)
			if err != nil {
				return err
			}
			return g.showHome(made)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&h.ID, "id", "", "its `identifier`; by default one is made")
	flags.StringVar(&h.Name, "name", "", "its `name`")
	flags.StringVar(&h.RatePlanID, "plan", "", "its rate `plan`, without which it has no price")
	flags.StringVar(&h.Timezone, "timezone", "", "its time `zone`, such as America/Chicago")
	flags.StringVar(&h.Zipcode, "zipcode", "", "its `zipcode`")
	flags.StringVar(&h.City, "city", "", "its `city`")
	flags.StringVar(&h.StreetAddress, "street", "", "its street `address`")
	flags.StringVar(&h.Country, "country", "", "its `country`, by default US")
	flags.StringVar(&h.UtilityID, "utility", "", "its utility's `identifier`")
	flags.StringVar(&h.UserID, "user", "", "its user's `identifier`")
	flags.StringVar((*string)(&h.CarbonSignalIntensity), "carbon", "", "how much the price follows emissions: LOW, MEDIUM or HIGH; by default LOW")
	return g.forOrg(cmd)
}

func newHomeList(g *globals) *cobra.Command {
	plan := ""
	cmd := &cobra.Command{
		Use: "list", Short: "List the homes of an organization",
		Example: `  gridhook home list --org acme --json
  gridhook home list --org acme --plan pge-e-elec`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), func(ctx context.Context, p client.Page) ([]client.Home, string, error) {
				return c.HomesOn(ctx, g.org, plan, p)
			})
			if err != nil {
				return err
			}
			header := []any{"ID", "NAME", "PLAN", "TIMEZONE", "ZIPCODE", "CARBON", "ENABLED"}
			return showList(g, all, "homes", header, func(h client.Home) []any {
				return []any{h.ID, or(h.Name), or(h.RatePlanID), or(h.Timezone), or(h.Zipcode), h.CarbonSignalIntensity, h.Enabled}
			})
		},
	}
	cmd.Flags().StringVar(&plan, "plan", "", "the rate `plan` whose homes alone are listed")
	return g.forOrg(cmd)
}

func newHomeGet(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "get HOME", Short: "Show a home",
		Example: `  gridhook home get home-1 --org acme`, Args: takes("the home"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			h, err := c.GetHome(cmd.Context(), g.org, args[0])
			if err != nil {
				return err
			}
			return g.showHome(h)
		},
	})
}

func newHomeDelete(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "delete HOME", Short: "Remove a home",
		Example: `  gridhook home delete home-1 --org acme`, Args: takes("the home"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			if err := c.DeleteHome(cmd.Context(), g.org, args[0]); err != nil {
				return err
			}
			return g.showDeleted(args[0])
		},
	})
}

// showDeleted says that something is no more.
func (g *globals) showDeleted(id string) error {
	gone := struct {
		ID      string `json:"id"`
		Deleted bool   `json:"deleted"`
	}{id, true}
	return g.show(gone, func(w io.Writer) { row(w, fmt.Sprintf("%s is deleted.", id)) })
}

func (g *globals) showHome(h client.Home) error {
	return g.show(h, func(w io.Writer) {
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
	})
}

// address is a home's address in one line.
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
