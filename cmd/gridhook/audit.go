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
			{name: "organization", field: "organizationId", help: "only changes of this `organization`; _ for what all organizations share"},
			{name: "key", field: "keyId", help: "only changes by this `key`; operator is the configured operator key"},
			{name: "operation", help: "only this `operation`, such as createKey"},
			{name: "since", value: pastText(""), help: "only changes since a `time`, or a duration before now such as 1h"},
			{name: "until", value: pastText(""), help: "only changes before a `time`, or a duration before now"},
			{name: "limit", value: 1000, help: "maximum number of entries, 0 for all"},
		},
	})))
}
