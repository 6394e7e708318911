package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
)

func newSourceCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "source", plural: "sources", path: "/v1/admin/sources", owned: true, scope: g.ownedOrShared, derive: deriveSource,
		columns: "ID:id, ADAPTER:adapter, STATE:state, EVERY:every, LAST GOOD:lastGoodAt, NEXT:nextRunAt, DATA UNTIL:dataEnd, PLAN:planId", more: "PARAMETERS:parameters, DESCRIPTION:description",
		fields: "source:id, for:owner, adapter:adapter, url:url, parameters:parameters, secret:secret, every:every, timezone:timezone, plan:planId, description:description, " +
			"state:state, failures:failures, last run:lastRunAt, last good run:lastGoodAt, next run:nextRunAt, data until:dataEnd",
	}
	const example = "  gridhook source %s np15"
	shown := r
	shown.below = func(w io.Writer, r record) {
		printBelow(w, r["runs"], "AT:at, OUTCOME:outcome, ADDED:added, CHANGED:changed, REQUESTS:requests, ERROR:error")
	}
	checked := r
	checked.below = func(w io.Writer, r record) {
		printBelow(w, r["prices"], "NODE:node, MARKET:market, MINUTES:stepMinutes, PRICES:prices, FROM:startTime, TO:endTime, LOWEST $/kWh:lowest, HIGHEST $/kWh:highest")
		printBelow(w, r["alerts"], "ALERT:name, FROM:from, TO:to")
	}
	return g.talks(group("source", "Sources: prices, alerts and tariffs that come in by themselves",
		r.command(operation{
			use: "add", path: "create", short: "Add a source, which fetches at once and then regularly",
			example: `  gridhook source add --id np15 --adapter csv --url https://prices.example/np15.csv --param node=NP15 --timezone America/Los_Angeles --plan np15
  gridhook source add --adapter json --url https://prices.example/v1/prices --param node=HUB --param list=data --param timeField=start --param priceField=price --param unit=$/MWh --secret-file key.txt --every 15m`,
			flags: append(sourceFlags(), bodyFlag{name: "id", help: "`identifier` of the source (default chosen by the server)"},
				bodyFlag{name: "adapter", help: "`adapter` that knows the format: see gridhook source adapters", words: feed.Names(), required: true}),
		}),
		r.list("List the shared sources, or the sources of an organization", "  gridhook source list"),
		shown.get("Show a source and its last runs", fmt.Sprintf(example, "get")),
		r.command(operation{
			use: "update SOURCE", short: "Change the settings that the flags name, and fetch at once",
			example: fmt.Sprintf(example, "update") + " --every 30m", flags: sourceFlags(),
		}),
		r.command(operation{use: "run SOURCE", short: "Fetch now instead of at the next time", example: fmt.Sprintf(example, "run"), done: "{id} fetches now."}),
		r.command(operation{
			use: "pause SOURCE", path: "{id}/update", short: "Pause a source; its prices stay", example: fmt.Sprintf(example, "pause"), usual: fields{"enabled": false}, done: "{id} is paused.",
		}),
		r.command(operation{
			use: "resume SOURCE", path: "{id}/update", short: "Resume a paused source, which fetches at once", example: fmt.Sprintf(example, "resume"), usual: fields{"enabled": true}, done: "{id} is resumed.",
		}),
		checked.command(operation{
			use: "check SOURCE", short: "Fetch once and show what a run would store, without storing it", example: fmt.Sprintf(example, "check"), after: failsIf("the fetch of the source failed", func(c events.SourceCheck) bool { return c.Outcome == storage.SourceFailed }),
			fields: "outcome:outcome, error:error, requests:requests, new prices:added, changed prices:changed, changed events:events, changes the plan:tariff, took:seconds:s",
		}),
		r.remove("Delete a source, but not what it has stored", fmt.Sprintf(example, "delete")),
		newSourceAdapters(g)))
}

// sourceFlags are the flags of a source's fields.
func sourceFlags() []bodyFlag {
	return []bodyFlag{
		{name: "url", help: "`address` to ask (default the adapter's)"},
		{name: "param", field: "parameters", value: assignments{}, help: "parameter of the adapter as `name=value`; repeatable; an update replaces all parameters, and \"\" removes them"},
		{name: "secret-file", field: "secret", value: textOrNone, help: "`file` with the secret that the adapter needs; an empty file removes it; - for standard input"},
		{name: "every", field: "everySeconds", value: span{0, time.Second}, help: "interval between two fetches, such as 15m (default the adapter's)"},
		{name: "timezone", help: "IANA time `zone` of the prices' days (default the adapter's)"},
		{name: "plan", field: "planId", help: "rate `plan` that the source feeds; fetched prices create it"},
		{name: "description", help: "`purpose` of the source"},
	}
}

// deriveSource adds the owner, the interval in words, and the state of a source.
func deriveSource(r record) {
	planOwner(r)
	s, err := convert[wire.Source](r)
	if err != nil {
		return
	}
	r["every"] = short(time.Duration(s.EverySeconds) * time.Second)
	switch {
	case !s.Enabled:
		r["state"] = "paused"
	case s.Late:
		r["state"] = "late"
	case s.Failures > 0:
		r["state"] = "failing"
	default:
		r["state"] = "ok"
	}
}

// printBelow prints a list of objects as a table after an empty line. It prints nothing
// for an empty list.
func printBelow(w io.Writer, list any, columns string) {
	items, _ := list.([]any)
	records := make([]record, len(items))
	for i, item := range items {
		records[i], _ = item.(map[string]any)
	}
	if len(records) > 0 {
		say(w, "\n")
		printTable(w, records, columns)
	}
}

func newSourceAdapters(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "adapter", plural: "adapters", path: "/v1/admin/sources/adapters", unpaged: true,
		columns: "ADAPTER:name, TITLE:title, EVERY:every, PARAMETERS:named, SECRET:secret", more: "TIMEZONE:timezone, URL:url, DOCUMENTATION:doc",
		derive: func(r record) {
			a, err := convert[wire.SourceAdapter](r)
			if err != nil {
				return
			}
			var named []string
			for _, p := range a.Parameters {
				if p.Required {
					p.Name += "*"
				}
				named = append(named, p.Name)
			}
			r["every"], r["named"] = short(time.Duration(a.EverySeconds)*time.Second), strings.Join(named, ",")
		},
	}
	return r.listOf(operation{
		use: "adapters", short: "List the adapters with their parameters; * marks a required parameter", example: "  gridhook source adapters",
	})
}
