package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newOrgCommand(g *globals) *cobra.Command {
	return g.talks(group("org", "Organizations: the partners of the service", newOrgCreate(g), newOrgList(g), newOrgGet(g)))
}

func newOrgCreate(g *globals) *cobra.Command {
	var o client.NewOrganization
	cmd := &cobra.Command{
		Use: "create", Short: "Make an organization", Args: takes(),
		Example: `  gridhook org create --id acme --name "Acme Energy"
  gridhook org create --id channel --name "Channel Partner" --child acme --child beta`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			made, err := c.CreateOrganization(cmd.Context(), o)
			if err != nil {
				return err
			}
			return g.showOrg(made)
		},
	}
	cmd.Flags().StringVar(&o.ID, "id", "", "its `identifier`; by default one is made")
	cmd.Flags().StringVar(&o.Name, "name", "", "its `name`")
	cmd.Flags().StringSliceVar(&o.ChildOrganizationIDs, "child", nil, "an `organization` that its keys may act for; may be repeated")
	_ = cmd.MarkFlagRequired("name") // it was added above
	return cmd
}

func newOrgList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the organizations",
		Example: `  gridhook org list --json`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), c.Organizations)
			if err != nil {
				return err
			}
			return showList(g, all, "organizations", []any{"ID", "NAME", "CREATED"}, func(o storage.Organization) []any {
				return []any{o.ID, o.Name, moment(o.CreatedAt)}
			})
		},
	}
}

func newOrgGet(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "get ORG", Short: "Show an organization",
		Example: `  gridhook org get acme`, Args: takes("the organization"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			o, err := c.GetOrganization(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.showOrg(o)
		},
	}
}

func (g *globals) showOrg(o storage.Organization) error {
	return g.show(o, func(w io.Writer) {
		row(w, "organization", o.ID)
		row(w, "name", o.Name)
		for _, child := range o.ChildOrganizationIDs {
			row(w, "acts for", child)
		}
		row(w, "created", moment(o.CreatedAt))
	})
}
