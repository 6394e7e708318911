package app

import "sync/atomic"

// comparison compares the log of record with the replica. Somebody may restore older files of
// NATS under a running process. The replica would skip each new record up to its own revision.
// So nothing new is accepted between a reconnect and the next comparison, and nothing more
// after the log was shorter than the replica. The replica of such a process never has the
// records that others write in place of the lost ones.
type comparison struct {
	// compared is the number of reconnects at the last comparison that found nothing, plus
	// one. It is 0 while the process starts.
	compared atomic.Uint64
	behind   repeated // the leader of a cluster may lag once
	lost     atomic.Bool
}

// lostRecords is the reason why a process accepts nothing more.
const lostRecords = "the log of record has lost records that this process has read: restart it"

// compare compares the last revision of the log, 0 if it is unknown, with the replica's.
// reconnects is the number of reconnects before the log was read.
func (c *comparison) compare(last, revision, reconnects uint64) {
	if last == 0 {
		return
	}
	fault := ""
	if last >= revision {
		c.compared.Store(reconnects + 1)
	} else {
		fault = lostRecords
	}
	if c.behind.found(fault) != "" {
		c.lost.Store(true)
	}
}

// refusal returns the reason why nothing new may be stored after a number of reconnects, or
// "" if it may.
func (c *comparison) refusal(reconnects uint64) string {
	switch compared := c.compared.Load(); {
	case c.lost.Load():
		return lostRecords
	case compared > 0 && compared != reconnects+1:
		return "the connection was restored, and the log of record is not yet compared with the replica"
	}
	return ""
}
