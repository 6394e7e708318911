package main

import "github.com/spf13/cobra"

func newAuditCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, plural: "audit entries", path: "/v1/admin/audit",
		columns: "TIME:time, ORGANIZATION:organizationId, KEY:keyId, OPERATION:operation, OBJECT:objectId, STATUS:status",
		more:    "NAME:keyName, CLIENT:client, REQUEST:requestId",
	}
	return g.talks(group("audit", "Audit log: who changed what", r.listOf(operation{
		use: "list", short: "List changes, the newest first",
		example: `  gridhook audit list --organization acme --since 24h
  gridhook audit list --key operator --operation createKey --json`,
		flags: []bodyFlag{
			{name: "organization", field: "organizationId", value: "", help: "only changes of this `organization`; _ for what all organizations share"},
			{name: "key", field: "keyId", value: "", help: "only changes by this `key`; operator is the configured operator key"},
			{name: "operation", field: "operation", value: "", help: "only this `operation`, such as createKey"},
			{name: "since", field: "since", value: pastText(""), help: "only changes since a `time`, or a duration before now such as 1h"},
			{name: "until", field: "until", value: pastText(""), help: "only changes before a `time`, or a duration before now"},
			{name: "limit", field: "limit", value: 1000, help: "maximum number of entries, 0 for all"},
		},
	})))
}
