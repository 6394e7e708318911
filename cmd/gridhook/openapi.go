package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api"
)

// newOpenAPICommand prints the document that servers serve at /openapi.json.
func newOpenAPICommand(g *globals) *cobra.Command {
	audiences := []string{string(api.AudiencePartner), string(api.AudienceOperator)}
	return &cobra.Command{
		Use: "openapi partner|operator", Short: "Print the OpenAPI document of the operations",
		Long: `Print the OpenAPI 3.1 document in JSON: of the partners' operations, or of all operations
including the operator's. A server has the same document at /openapi.json.`,
		Example: `  gridhook openapi partner > openapi.json`, Args: takes("the audience"), ValidArgs: audiences,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(audiences, args[0]) {
				return usagef("audience must be partner or operator, not %q", args[0])
			}
			text, err := api.OpenAPI(api.Audience(args[0]))
			if err == nil {
				_, err = g.out.Write(append(text, '\n'))
			}
			return err
		},
	}
}
