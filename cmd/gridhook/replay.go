package main

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/storage"
)

// replays returns the resource of replays.
func replays(g *globals) resource {
	return resource{
		g: g, noun: "replay", plural: "replays", path: "/v1/webhook/replays", scope: g.forOrg,
		columns: "ID:id, ENDPOINT:endpointId, SINCE:since, STATUS:status, FOUND:found, QUEUED:retried, CREATED:createdAt, COMPLETED:completedAt",
		more:    "OUTCOMES:outcomes, SUPERSEDED:superseded, LOST:lost",
		fields:  "replay:id, endpoint:endpointId, since:since, status:status, found:found, queued:retried, superseded:superseded, lost:lost",
		derive: func(r record) {
			maps.DeleteFunc(r, func(name string, v any) bool { return v == 0.0 && (name == "superseded" || name == "lost") })
		},
	}
}

func newEndpointReplay(g *globals) *cobra.Command {
	var watch bool
	r := replays(g)
	r.noun, r.path = "endpoint", "/v1/webhook/endpoints"
	cmd := r.command(operation{
		use: "replay ENDPOINT", short: "Retry all exhausted and expired deliveries of an endpoint since a time",
		long: `Retry all exhausted and expired deliveries of an endpoint since a time, as the same
messages. A message that a newer trigger superseded is not retried.

The command returns as soon as the server has stored the replay. The replay then
completes even if processes fail. With --watch the command waits for its end.
"gridhook endpoint replays get" shows its progress later.`,
		example: `  gridhook endpoint replay ep_01JZ0000000000000000000000 --org acme --since 6h --watch`,
		flags: []bodyFlag{
			{name: "since", value: pastText(""), help: "start of the replay: a `time`, or a duration before now such as 6h", required: true},
			{name: "outcome", field: "outcomes", value: enums{}, help: "`outcomes` to retry: FAILED, EXPIRED (default both)"},
		},
		after: func(ctx context.Context, c *client.Client, response json.RawMessage) (json.RawMessage, error) {
			var replay client.Replay
			err := json.Unmarshal(response, &replay)
			if err != nil || !watch {
				return response, err
			}
			var failed failedPolls
			id := replay.ID
			err = sandbox.Poll(ctx, g.pollEvery, func() (bool, error) {
				replay, err = c.GetReplay(ctx, id)
				return replay.Status == storage.ReplayCompleted, failed.tolerate(ctx, err)
			})
			if err != nil {
				return response, err // the replay continues
			}
			return json.Marshal(replay)
		},
	})
	cmd.Flags().BoolVar(&watch, "watch", false, "wait for the end of the replay")
	return cmd
}
