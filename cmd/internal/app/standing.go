package app

import (
	"math"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/storage"
)

// standing tells, whenever the metrics are read, how the process and the work of
// the fleet stand. What cannot be found out is left out of that reading, and
// logged.
type standing struct {
	app *App
}

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("gridhook", "", name), help, nil, nil)
}

var (
	readyDesc = desc("ready", "1 while /readyz answers 200, otherwise 0.")
	freeDesc  = desc("data_free_bytes", "Bytes free for this process on the file system of its data folder.")
	sizeDesc  = desc("data_size_bytes", "Size of the file system of the data folder.")

	storeUsedDesc  = desc("store_used_bytes", "Bytes that the embedded NATS's files take.")
	storeLimitDesc = desc("store_limit_bytes", "Bytes that the embedded NATS's files may take: see max-store.")

	backlogDesc     = desc("backlog_homes", "Homes of accepted triggers in the fleet that are not walked yet.")
	unwalkedDesc    = desc("oldest_unwalked_age_seconds", "Age of the oldest trigger in the fleet with homes that are not walked yet, 0 without one.")
	undeliveredDesc = desc("oldest_undelivered_age_seconds", "Age of the oldest trigger in the fleet with homes that are not walked yet or are tried again, 0 without one.")
	staleDesc       = desc("organizations_stale", "Organizations with an enabled endpoint whose newest trigger's window has ended: their receivers have no signal in force.")
)

// watchStanding registers what is told of the process.
func (a *App) watchStanding() {
	a.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "gridhook", Name: "build_info", Help: "1; the labels tell which Gridhook this is.",
		ConstLabels: prometheus.Labels{"version": a.Version, "role": string(a.Role), "goversion": runtime.Version()},
	}, func() float64 { return 1 }))
	a.Registry.MustRegister(&standing{app: a})
}

// Describe sends nothing: what is collected depends on the role.
func (s *standing) Describe(chan<- *prometheus.Desc) {}

// Collect reads how everything stands now.
func (s *standing) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	now := time.Now()
	ready := 0.0
	if s.app.health.problem(now) == "" {
		ready = 1
	}
	send(readyDesc, ready)
	s.try("how full the disk is", func() error { return s.disk(send) })
	if s.app.embedded != nil {
		s.try("how full the store is", func() error {
			u, err := s.app.embedded.Usage()
			if err == nil {
				send(storeUsedDesc, float64(u.Used))
				send(storeLimitDesc, float64(u.Limit))
			}
			return err
		})
	}
	if s.app.Role.answers() {
		s.try("what waits", func() error { return s.backlog(send, now) })
		s.try("whose signals have run out", func() error { return s.stale(send, now) })
	}
}

func (s *standing) try(what string, read func() error) {
	if err := read(); err != nil {
		s.app.Log.Warn("the metrics cannot tell "+what, "error", err)
	}
}

func (s *standing) disk(send func(*prometheus.Desc, float64)) error {
	free, size, err := Room(s.app.Data)
	if err != nil {
		return err
	}
	send(freeDesc, float64(free))
	send(sizeDesc, float64(size))
	return nil
}

func (s *standing) backlog(send func(*prometheus.Desc, float64), now time.Time) error {
	b, err := s.app.ledger.Backlog()
	if err != nil {
		return err
	}
	unwalked := age(b.OldestWalk, now)
	send(backlogDesc, float64(b.Homes))
	send(unwalkedDesc, unwalked)
	send(undeliveredDesc, max(unwalked, age(b.OldestRetry, now)))
	return nil
}

// age is how many seconds ago a time was, 0 for none.
func age(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}

// stale counts the organizations whose receivers have no signal in force. One
// that was never triggered does not count: it has not begun.
func (s *standing) stale(send func(*prometheus.Desc, float64), now time.Time) error {
	n := 0
	err := s.app.store.View(func(v storage.View) error {
		organizations, err := storage.ReadList[storage.Organization](v, storage.KindOrganization, storage.Shared, "", math.MaxInt)
		if err != nil {
			return err
		}
		for _, o := range organizations {
			stale, err := s.ranOut(v, o.ID, now)
			if err != nil {
				return err
			}
			if stale {
				n++
			}
		}
		return nil
	})
	if err == nil {
		send(staleDesc, float64(n))
	}
	return err
}

func (s *standing) ranOut(v storage.View, org string, now time.Time) (bool, error) {
	newest, err := s.app.ledger.Recent(org, 1)
	if err != nil || len(newest) == 0 || newest[0].EndTime.After(now) {
		return false, err
	}
	endpoints, err := storage.ReadList[storage.WebhookEndpoint](v, storage.KindWebhookEndpoint, org, "", math.MaxInt)
	for i := range endpoints {
		if endpoints[i].Wants(storage.EventPriceSignalUpdated) {
			return true, err
		}
	}
	return false, err
}
