package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/gridhook/gridhook/storage"
)

// staleEvery is the interval between two counts of stale organizations. A count reads every
// organization, so it is not part of a scrape.
const staleEvery = time.Minute

// countStale keeps the metric of stale organizations current.
func (a *App) countStale(context.Context) error {
	a.stale = promauto.With(a.Registry).NewGauge(prometheus.GaugeOpts{
		Namespace: "gridhook", Name: "organizations_stale",
		Help: "Organizations, not suspended and with an enabled endpoint, whose triggers' windows have all ended: their receivers have no signal in force. Counted once a minute.",
	})
	a.repeat("the count of stale organizations", "count stale organizations", staleEvery, func(context.Context) error { return a.setStale(time.Now()) })
	return nil
}

// setStale counts the organizations whose receivers have no current signal. It ignores
// organizations that are not active or have no trigger, and endpoints that do not decode.
func (a *App) setStale(now time.Time) error {
	n := 0
	err := a.store.View(func(v storage.View) error {
		return storage.EachOrganization(v, func(org string) error {
			if active, err := storage.IsActive(v, org); !active || err != nil {
				return err
			}
			stale, err := a.ranOut(v, org, now)
			if stale {
				n++
			}
			return err
		})
	})
	if err == nil {
		a.stale.Set(float64(n))
	}
	return err
}

// ranOut reports whether an organization's signals have run out although an endpoint
// wants them.
func (a *App) ranOut(v storage.View, org string, now time.Time) (stale bool, err error) {
	if ended, err := a.ledger.RanOut(org, now); err != nil || !ended {
		return false, err
	}
	for r, err := range storage.Live(v, storage.KindWebhookEndpoint, org, "") {
		if err != nil {
			return false, err
		}
		if e, err := storage.DecodeEndpoint(r); err == nil && e.Wants(storage.EventPriceSignalUpdated) {
			return true, nil
		}
	}
	return false, nil
}
