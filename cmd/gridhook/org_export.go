package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
)

// newOrgExport returns the command that prints an organization as lines of an import.
func newOrgExport(g *globals, orgs resource) *cobra.Command {
	return orgs.run(operation{
		use: "export ORG", short: "Print an organization as a file to import", path: "{id}/export",
		long: `Print everything of an organization that "gridhook import" takes, one resource a line.

Secrets are masked. An import into the same server keeps them. On another server,
replace the masks first; endpoints without secrets get new signing secrets. Keys,
schedules, OpenADR objects and deliveries are not in the file.`,
		example: "  gridhook org export acme > acme.ndjson",
	}, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		_, err := client.All(cmd.Context(), func(ctx context.Context, p client.Page) ([]struct{}, string, error) {
			body["limit"] = p.Limit
			if p.After != "" {
				body["after"] = p.After
			}
			page, err := client.Call[struct {
				Data []json.RawMessage `json:"data"`
				Next string            `json:"next"`
			}](ctx, c, orgs.at("{id}/export", args), body)
			for _, line := range page.Data {
				if err == nil {
					_, err = fmt.Fprintf(g.out, "%s\n", line)
				}
			}
			return nil, page.Next, err
		})
		return err
	})
}
