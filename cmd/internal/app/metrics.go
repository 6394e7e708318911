package app

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/gridhook/gridhook/storage"
)

// collector collects metrics of the process and of the fleet's work at each scrape. If a
// value is unavailable, the scrape omits it and the process logs the error.
type collector struct{ app *App }

// gauge sends the value of a metric.
type gauge func(name, help string, value float64)

// registerMetrics registers the metrics of the process.
func (a *App) registerMetrics(context.Context) error {
	promauto.With(a.Registry).NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "gridhook", Name: "build_info", Help: "1; the labels tell which Gridhook this is.",
		ConstLabels: prometheus.Labels{"version": a.Version, "role": string(a.Role), "goversion": runtime.Version()},
	}, func() float64 { return 1 })
	a.Registry.MustRegister(&collector{app: a})
	return nil
}

// Describe sends nothing, because the metrics depend on the role.
func (s *collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the current values.
func (s *collector) Collect(out chan<- prometheus.Metric) {
	send := func(name, help string, value float64) {
		d := prometheus.NewDesc(prometheus.BuildFQName("gridhook", "", name), help, nil, nil)
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	now := time.Now()
	flag := func(name, help string, on bool) {
		send(name, help, map[bool]float64{true: 1}[on])
	}
	flag("ready", "1 while /readyz responds 200, otherwise 0.", s.app.unready(now) == "")
	flag("store_full", "1 while the disk or the store is full and new requests are refused.", s.app.guard.full.why() != "")
	flag("record_damaged", "1 if a stream of the log of record lost messages.", s.app.guard.damage.why() != "")
	s.queues(send)
	s.try("free space of the disk", func() error { return s.disk(send) })
	if s.app.embedded != nil {
		s.try("size of the store", func() error {
			u, err := s.app.embedded.Usage()
			if err == nil {
				sendStore(send, u.Used, u.Limit)
			}
			return err
		})
		s.try("compaction of the store", func() error {
			due, err := CompactionDue(s.app.Data, now)
			flag("compaction_due", "1 while the files of the embedded NATS have bytes of deleted organizations past their retention, until a restart compacts the files, otherwise 0.", due)
			return err
		})
	}
	if s.app.servesAPI() {
		s.try("backlog", func() error { return s.backlog(send, now) })
		s.try("unfinished deletions", func() error {
			return s.app.store.View(func(v storage.View) error {
				n, err := storage.UnfinishedErasures(v)
				send("deletions_unfinished", "Deleted organizations with records that are not erased yet.", float64(n))
				return err
			})
		})
	}
}

func (s *collector) queues(send gauge) {
	depth, lag := s.app.health.queues()
	send("queue_slices", "Slices queued or in flight in the fleet.", float64(depth.Slices))
	send("retries_pending", "Retry messages that wait or are due in the fleet.", float64(depth.RetriesWaiting))
	send("triggers_unstarted", "Accepted triggers whose walk has not begun.", float64(depth.Unstarted))
	send("dead_letters", "Messages that could not be processed.", float64(depth.DeadLetters))
	send("replica_lag_revisions", "Revisions of the log of record that this process's replica has not applied.", float64(lag))
	if s.app.embedded == nil && depth.MaxStored > 0 {
		sendStore(send, depth.Stored, depth.MaxStored)
	}
	if s.app.servesAPI() {
		send("ledger_lag_messages", "Triggers and receipts that this process's ledger has not read.", float64(s.app.ledger.Lag(depth.Trigger, depth.Receipt)))
	}
}

// sendStore sends the size of NATS's files: of the embedded server, or of the account.
func sendStore(send gauge, used, limit uint64) {
	send("store_used_bytes", "Size of the files of the embedded NATS, or of the account on an external one, in bytes.", float64(used))
	send("store_limit_bytes", "Maximum of store_used_bytes: max-store, or the limit of the account.", float64(limit))
}

// try logs an error of read, unless the process stops: the last export of telemetry comes after
// the files are closed.
func (s *collector) try(what string, read func() error) {
	if err := read(); err != nil && s.app.health.phase.Load() != "stopping" {
		s.app.Log.Warn("metrics incomplete", "missing", what, "error", err)
	}
}

func (s *collector) disk(send gauge) error {
	free, size, err := Space(s.app.Data)
	if err != nil {
		return err
	}
	send("data_free_bytes", "Bytes free for this process on the file system of its data folder.", float64(free))
	send("data_size_bytes", "Size of the file system of the data folder.", float64(size))
	return nil
}

// backlog sends the fleet's work according to the ledger, unless the ledger has not read the
// outcomes yet: the triggers of a week would count as not walked.
func (s *collector) backlog(send gauge, now time.Time) error {
	if s.app.ledger.Behind() {
		return nil
	}
	b, err := s.app.ledger.Backlog()
	if err != nil {
		return err
	}
	unwalked := age(b.OldestWalk, now)
	send("backlog_homes", "Homes of accepted triggers in the fleet that are not walked yet.", float64(b.Homes))
	send("oldest_unwalked_age_seconds", "Age of the oldest trigger in the fleet with homes that are not walked yet, 0 without one.", unwalked)
	send("oldest_undelivered_age_seconds", "Age of the oldest trigger in the fleet with homes that are not walked yet or are retried, 0 without one.", max(unwalked, age(b.OldestRetry, now)))
	return nil
}

// age returns the seconds since a time, or 0 for the zero time.
func age(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}
