package doctor

import (
	"fmt"
	"go/version"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/checkup"
	own "github.com/gridhook/gridhook/events/jetstream"
)

// These are the requirements on NATS.
const (
	minVersion = "2.15.2"
	minPayload = 8_000_000
	// full is the share of a store in percent from which it counts as nearly full.
	full = 85
	// slowAck is the duration from which an acknowledged write counts as slow.
	slowAck = 250 * time.Millisecond
	// skewed is the clock skew that causes a warning: schedules and deadlines are wrong by
	// as much. wrong is the clock skew that is a problem: receivers refuse signatures with
	// a larger skew.
	skewed = time.Second
	wrong  = time.Minute
)

// nats judges the facts about NATS.
func (r *Report) nats(c *config.Config, f *checkup.Facts) {
	r.version(f)
	r.encryption(c, f)
	r.payload(f)
	if f.Refused != nil {
		r.problem("jetstream", "turn JetStream on in NATS and for this account, and allow the user $JS.API.>", "no information on this account: %v", f.Refused)
	} else {
		t := tierOf(c, f)
		r.account(&t)
		r.history(c, storeOf(f, &t))
		r.trial(f)
	}
	r.streams(c, f)
	for _, s := range f.Streams {
		if s.Want.Name == f.Prefix.Name(own.DeadStream) {
			r.judgeDeadLetters(s.Is.State.Msgs)
		}
	}
	r.space(f)
	r.sync(f)
	r.clocks(f)
}

func (r *Report) version(f *checkup.Facts) {
	const check = "nats version"
	versions := map[string]string{"the server": f.Version}
	for _, s := range f.Servers {
		delete(versions, "the server")
		versions[s.Name] = s.Version
	}
	var old []string
	for name, v := range versions {
		// A suffix does not count: 2.16.0-preview counts as the release.
		if version.Compare("go"+v, "go"+minVersion) < 0 {
			old = append(old, name+" has "+v)
		}
	}
	slices.Sort(old)
	if len(old) > 0 {
		r.problem(check, "upgrade to "+minVersion+" or later: in earlier versions compaction can lose synced writes", "%s", strings.Join(old, ", "))
		return
	}
	r.ok(check, "%s", f.Version)
}

func (r *Report) encryption(c *config.Config, f *checkup.Facts) {
	const check = "nats tls"
	local := true
	for server := range strings.SplitSeq(c.NATS.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		local = local && err == nil && loopback(net.JoinHostPort(u.Hostname(), "0"))
	}
	switch {
	case f.Encrypted:
		r.ok(check, "the connection is encrypted")
	case local:
		r.ok(check, "the connection stays on this machine")
	default:
		r.warn(check, "set up TLS in NATS and nats-ca here", "the connection is not encrypted: the log of record is readable on the network")
	}
}

func (r *Report) payload(f *checkup.Facts) {
	const check = "nats max_payload"
	if f.MaxPayload < minPayload {
		r.problem(check, "set max_payload: 8MB on every server", "%s is too small: one message has the retries of many homes", config.Size(f.MaxPayload).Rounded())
		return
	}
	r.ok(check, "%s", config.Size(f.MaxPayload).Rounded())
}

// tierOf returns the use and the limits of the account for Gridhook's streams. An account
// may have limits for each number of replicas instead of limits for all streams.
func tierOf(c *config.Config, f *checkup.Facts) jetstream.Tier {
	if len(f.Account.Tiers) == 0 {
		return f.Account.Tier
	}
	n := max(c.NATS.Replicas, 1)
	if c.NATS.Replicas == 0 && len(f.Streams) > 0 {
		n = replicas(f)
	}
	return f.Account.Tiers[fmt.Sprintf("R%d", n)]
}

func (r *Report) account(t *jetstream.Tier) {
	const check = "jetstream account"
	limit, used := t.Limits.MaxStore, t.Store
	needed := len(wanted)
	switch {
	case limit > 0 && used > uint64(limit)/100*full:
		r.warn(check, "raise the account's limit, or lower receipts-age", "%s of %s are used", config.Size(used).Rounded(), config.Size(limit).Rounded())
	case limit == 0:
		r.problem(check, "give the account file storage", "the account may not store files")
	case t.Limits.MaxStreams > 0 && t.Limits.MaxStreams < needed:
		r.problem(check, fmt.Sprintf("allow at least %d streams", needed), "the account may have only %s", counted(t.Limits.MaxStreams, "stream", "streams"))
	default:
		r.ok(check, "%s used, %s", config.Size(used).Rounded(), map[bool]string{true: "no limit", false: "of " + config.Size(limit).Rounded()}[limit < 0])
	}
}

// space judges the space of each server that reports it.
func (r *Report) space(f *checkup.Facts) {
	for _, s := range f.Servers {
		if limit, used := s.JetStream.Config, s.JetStream.Stats; limit != nil && used != nil && used.Store > uint64(max(limit.MaxStore, 0))/100*full {
			r.warn("nats store", "raise max_file_store, or lower receipts-age", "%s uses %s of %s", s.Name, config.Size(used.Store).Rounded(), config.Size(limit.MaxStore).Rounded()) //nolint:gosec // smaller than a disk
		}
	}
}

// storeOf returns the size of the store in bytes: the smallest of the account's limit and
// the servers' limits, 0 if none is known.
func storeOf(f *checkup.Facts, t *jetstream.Tier) uint64 {
	smallest := max(t.Limits.MaxStore, 0)
	for _, s := range f.Servers {
		if config := s.JetStream.Config; config != nil && (smallest == 0 || config.MaxStore < smallest) {
			smallest = max(config.MaxStore, 0)
		}
	}
	return uint64(smallest)
}

func (r *Report) trial(f *checkup.Facts) {
	const check = "jetstream permissions"
	if f.Trial != nil {
		do := fmt.Sprintf("allow the user to publish to $JS.API.>, $JS.ACK.> and %[1]s, and to subscribe to _INBOX.> and %[1]s", f.Prefix.Name("gridhook.>"))
		switch says := f.Trial.Error(); {
		case strings.Contains(says, "replicas"), strings.Contains(says, "peers"):
			do = "start the other NATS servers, or lower nats-replicas"
		case strings.Contains(says, "resource"):
			do = "raise max_file_store of the NATS servers or the account's limit, or lower receipts-age"
		}
		r.problem(check, do, "a stream like Gridhook's could not be used: %v", f.Trial)
		return
	}
	if f.Ack > slowAck {
		r.warn(check, "use disks that sync faster", "streams are usable, but a write took %s", f.Ack.Round(time.Millisecond))
		return
	}
	r.ok(check, "streams can be created, written, read and deleted; a write took %s", f.Ack.Round(time.Microsecond))
}

// sync judges whether a power cut can lose acknowledged writes.
func (r *Report) sync(f *checkup.Facts) {
	const check = "nats sync"
	const ask = "name the servers' monitoring with --nats-monitor (http://HOST:8222 of each), or run doctor with the credentials of a user of the system account"
	if f.Silent != nil {
		r.add(check, Unknown, "correct --nats-monitor", "%v", f.Silent)
	}
	var lazy, told []string
	for _, s := range f.Servers {
		switch config := s.JetStream.Config; {
		case config == nil:
			continue // the server stores nothing
		case !config.SyncAlways:
			lazy = append(lazy, fmt.Sprintf("%s syncs every %s", s.Name, config.SyncInterval))
		default:
			told = append(told, s.Name)
		}
	}
	switch silent := missing(f, append(slices.Clone(told), lazy...)); {
	case len(lazy) > 0:
		r.problem(check, "set jetstream { sync_interval: always } on every server, and restart one after the other",
			"an acknowledged write can be lost in a power cut: %s", strings.Join(lazy, ", "))
	case len(told) == 0: // no server reported, or only servers without JetStream
		r.add(check, Unknown, ask, "this connection does not show whether NATS syncs writes before it acknowledges them; by default it does not")
	case len(silent) > 0:
		r.add(check, Unknown, ask, "each write is synced at %s, but %s did not report", strings.Join(told, ", "), strings.Join(silent, ", "))
	default:
		r.ok(check, "each write is synced before it is acknowledged at %s", strings.Join(told, ", "))
	}
}

// missing returns the servers that store streams but did not report.
func missing(f *checkup.Facts, told []string) []string {
	var list []string
	add := func(name string) {
		known := slices.ContainsFunc(told, func(t string) bool { return t == name || strings.HasPrefix(t, name+" ") })
		if name != "" && !known && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, s := range f.Streams {
		if s.Is.Cluster == nil {
			continue
		}
		add(s.Is.Cluster.Leader)
		for _, peer := range s.Is.Cluster.Replicas {
			add(peer.Name)
		}
	}
	return list
}

func (r *Report) clocks(f *checkup.Facts) {
	const check = "clocks"
	if len(f.Clocks) == 0 {
		r.add(check, Unknown, "run doctor again after the first start of Gridhook", "no NATS server has reported its time yet")
		return
	}
	var off []string
	var worst time.Duration
	for _, c := range f.Clocks {
		by := c.Ahead.Abs() - c.Within
		if worst = max(worst, by); by >= skewed {
			off = append(off, fmt.Sprintf("%s is %s off", c.Server, c.Ahead.Round(time.Millisecond)))
		}
	}
	if len(off) == 0 {
		r.ok(check, "NATS and this machine agree within %s", skewed)
		return
	}
	status := Warning
	if worst >= wrong {
		status = Problem
	}
	r.add(check, status, "synchronize the clocks of all machines, as with chrony",
		"%s: retries and schedules run at wrong times, and receivers refuse signatures with a wrong time", strings.Join(off, ", "))
}
