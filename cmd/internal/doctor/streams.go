package doctor

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/checkup"
	own "github.com/gridhook/gridhook/events/jetstream"
)

// wanted are the streams that Gridhook creates.
var wanted = own.Configs(own.Options{})

// streams judges the existing streams.
func (r *Report) streams(c *config.Config, f *checkup.Facts) {
	const check = "streams"
	if len(f.Streams) == 0 {
		r.ok(check, "none: the first start creates them with %s", counted(max(c.NATS.Replicas, 1), "replica", "replicas"))
		return
	}
	before, restart := len(r.Findings), "restart a Gridhook process: it corrects the stream"
	if f.Trial != nil { // it could not start
		restart = "correct the jetstream permissions first, then " + restart
	}
	for i := range f.Streams {
		r.stream(check, restart, &f.Streams[i])
	}
	if least := replicas(f); least == 1 && servers(f) > 1 {
		r.warn(check, "set nats-replicas: 3 and restart every process", "each stream is on only one of %d servers: the loss of that server's disk loses the stream", servers(f))
	}
	if len(r.Findings) == before {
		r.ok(check, "%d, on disk, with %s; accepted messages cannot be deleted", len(f.Streams), counted(replicas(f), "replica", "replicas"))
	}
}

// stream compares a stream with Gridhook's configuration of it. A difference that the next
// start corrects is a warning. restart is its remedy.
func (r *Report) stream(check, restart string, s *checkup.Stream) {
	is, want := &s.Is.Config, &s.Want
	add := func(wrong bool, status Status, remedy, message string, args ...any) {
		if wrong {
			r.add(check, status, remedy, "%s %s", is.Name, fmt.Sprintf(message, args...))
		}
	}
	add(is.Storage != jetstream.FileStorage, Problem, "move it to file storage: back up, delete the stream, restore", "is in memory: a restart of NATS loses it")
	add(is.Replicas < want.Replicas, Warning, restart, "has %s instead of %d", counted(is.Replicas, "replica", "replicas"), want.Replicas)
	add(is.Replicas == 2, Warning, "use 1 or 3", "has 2 replicas: the loss of either server stops it")
	add(want.PersistMode != jetstream.AsyncPersistMode && is.PersistMode == jetstream.AsyncPersistMode && !own.Derived(is.Name),
		Problem, "back up, delete the stream, restore", "acknowledges writes before they are on disk")
	add(want.DenyDelete && !is.DenyDelete || want.DenyPurge && !is.DenyPurge, Problem, restart, "allows the deletion of messages")
	limited := (is.MaxMsgs > 0 || is.MaxBytes > 0) && is.Discard == jetstream.DiscardOld
	add(limited && want.MaxMsgs <= 0, Problem, restart, "has a limit at which it drops the oldest messages")
	add(is.MaxAge > 0 && (want.MaxAge == 0 || is.MaxAge < want.MaxAge), Problem, restart, "drops messages after %s", is.MaxAge)
	add(is.MaxMsgSize > 0 && is.MaxMsgSize < minPayload && (want.MaxMsgSize <= 0 || is.MaxMsgSize < want.MaxMsgSize), Problem, restart, "refuses messages above %s", config.Size(is.MaxMsgSize).Rounded())
	if cluster := s.Is.Cluster; cluster != nil {
		add(cluster.Leader == "", Problem, "start the servers that are down", "has no leader")
		var behind []string
		for _, peer := range cluster.Replicas {
			if peer.Offline || !peer.Current {
				behind = append(behind, peer.Name)
			}
		}
		add(len(behind) > 0, Warning, "check those servers", "is not up to date on %s", strings.Join(behind, ", "))
	}
}

// replicas returns the smallest number of replicas of a stream.
func replicas(f *checkup.Facts) int {
	least := f.Streams[0].Is.Config.Replicas
	for _, s := range f.Streams {
		least = min(least, s.Is.Config.Replicas)
	}
	return least
}

// servers returns the number of known servers.
func servers(f *checkup.Facts) int { return max(len(f.Servers), len(missing(f, nil))) }
