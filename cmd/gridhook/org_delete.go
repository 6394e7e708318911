package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

// newOrgDelete returns the command that deletes an organization.
func newOrgDelete(orgs resource) *cobra.Command {
	return orgs.run(operation{
		use: "delete ORG", path: "{id}/delete", short: "Delete an organization and erase its records",
		long: `Delete an organization with its keys, homes, devices, plans, endpoints and schedules,
and overwrite its records. This cannot be undone.

At once its keys are refused, and nothing of it can be read or sent. Its triggers and
receipts pass their retention until the time that the receipt calls "erased by". Until
then the identifier cannot be used again. An interrupted command may be repeated.`,
		example: "  gridhook org delete acme --confirm acme",
		flags:   []bodyFlag{{name: "confirm", field: "confirm", value: "", help: "`identifier` of the organization, again", required: true}},
	}, func(cmd *cobra.Command, args []string, c *client.Client, body fields) error {
		receipt, err := eraseAll(cmd.Context(), c, orgs.at("{id}/delete", args), body)
		if err != nil {
			return err
		}
		response, err := json.Marshal(receipt)
		if err != nil {
			return err
		}
		return orgs.show(response, operation{fields: "deleted:id, erased records:records, erased by:erasedBy"})
	})
}

// eraseAll repeats the deletion until it is complete. It returns the last receipt with the
// records of all.
func eraseAll(ctx context.Context, c *client.Client, path string, body fields) (receipt client.Erased, err error) {
	records := map[storage.Kind]int{}
	for !receipt.Complete && err == nil {
		receipt, err = client.Call[client.Erased](ctx, c, path, body)
		for kind, n := range receipt.Records {
			records[kind] += n
		}
	}
	receipt.Records = records
	return receipt, err
}
