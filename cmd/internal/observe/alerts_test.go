package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// scrapeEvery is short enough for the shortest range of the accelerated rules.
const scrapeEvery = 500 * time.Millisecond

// fleet is an api and workers on a nats-server of their own.
type fleet struct {
	*world
	nats    *blackbox.Process
	workers []*blackbox.Gridhook
	// shared says why the processes share the machine's disk, which others fill too. It
	// is nil if each process has its own disk.
	shared error
}

func newFleet(t *testing.T, workers int) *fleet {
	t.Helper()
	url, nats := blackboxtest.StartNATS(t, binaries.NATS, patience)
	f := &fleet{nats: nats}
	f.world = newWorld(t, start(t, "api", f.disk(t), "--nats", url))
	for range workers {
		f.workers = append(f.workers, start(t, "worker", f.disk(t), "--nats", url))
	}
	return f
}

// disk returns a folder for the data of a process.
func (f *fleet) disk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	f.shared = errors.Join(f.shared, mount(t, dir, 1<<30))
	return dir
}

func (f *fleet) targets() []string {
	list := []string{metricsAddress(f.main)}
	for _, w := range f.workers {
		list = append(list, metricsAddress(w))
	}
	return list
}

func firing(alert string) string {
	return `ALERTS{alertstate="firing", alertname="` + alert + `"}`
}

// fires checks that an alert fires.
func (p *prometheus) fires(alert string) {
	p.t.Helper()
	began := time.Now()
	if !p.awaits(firing(alert)) {
		p.t.Errorf("%s does not fire", alert)
		return
	}
	p.t.Logf("%s fires after %s", alert, time.Since(began).Round(time.Second))
}

// TestAlerts_Silent checks that no alert fires in normal operation: triggers, some
// requests that fail and are retried, a restarted process, and an import. It runs alone:
// the other tests keep every processor busy, and then a scrape of half a second or a
// probe of two is late.
func TestAlerts_Silent(t *testing.T) {
	tool(t, "prometheus")
	f := newFleet(t, 1)
	f.organization("acme", 300, stumbling(t))
	every(t, time.Second, func(ctx context.Context) { _, _ = f.operator.For("acme").Trigger(ctx, client.TriggerRequest{}) })
	f.homes("acme", 3000, plan)
	p := scraping(t, scrapeEvery, hurried(rules(t)), f.targets()...)
	// A Prometheus that has just started has no targets for some seconds.
	if !p.awaits(`count(up == 1) == 2 unless ALERTS`) {
		t.Fatal("Prometheus does not scrape")
	}
	began := time.Now()
	// This is as long as the faults need to be noticed: half an hour of the rules.
	if !p.awaits(fmt.Sprintf(`(vector(time()) - %d > 30) and on() up`, began.Unix())) {
		t.Fatal("Prometheus did not scrape for half a minute")
	}
	since := time.Since(began).Milliseconds()
	found, err := p.query(fmt.Sprintf(`sum by (alertname, instance) (count_over_time(ALERTS{alertstate="firing"}[%dms]))`, since))
	f.must(err)
	for _, s := range found {
		if f.shared != nil && strings.HasPrefix(s.labels["alertname"], "GridhookDisk") {
			t.Logf("%v fired, because of the machine's disk: %v", s.labels, f.shared)
			continue
		}
		t.Errorf("%v fired", s.labels)
	}
	if !p.awaits(`gridhook:delivered:rate5m > 0`) {
		t.Error("nothing was delivered meanwhile")
	}
}

// stumbling is a receiver that refuses one request in two hundred.
func stumbling(t *testing.T) client.EndpointFields {
	t.Helper()
	turn := make(chan int, 1)
	turn <- 0
	return receiving(t, func(w http.ResponseWriter, _ *http.Request) {
		n := <-turn
		turn <- n + 1
		if n%200 == 199 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// TestAlerts_Endpoints checks the alerts of endpoints.
func TestAlerts_Endpoints(t *testing.T) {
	tool(t, "prometheus")
	t.Parallel()
	serve := start(t, "serve", t.TempDir())
	w := newWorld(t, serve)
	w.organization("dead", 700, nobody(t))
	w.organization("failing", 700, answering(t, http.StatusInternalServerError))
	w.organization("gone", 3, answering(t, http.StatusGone))
	w.organization("late", 3, answering(t, http.StatusNoContent))
	w.organization("planless", 0, answering(t, http.StatusNoContent))
	w.homes("planless", 3, "no-such-plan")
	p := scraping(t, scrapeEvery, hurried(rules(t)), metricsAddress(serve))
	if !p.awaits(`gridhook_attempts_total == 0`) {
		t.Fatal("Prometheus does not scrape")
	}
	for _, organization := range []string{"dead", "failing", "gone", "planless"} {
		w.trigger(organization)
	}
	w.triggerPast("late")
	p.fires("GridhookEndpointDown")
	p.fires("GridhookEndpointDisabled")
	p.fires("GridhookDeliveryErrorsFast")
	p.fires("GridhookUnpriceable")
	p.fires("GridhookDeliveriesGivenUp") // the window of "late" has ended
	p.fires("GridhookSignalsStale")
}

// TestAlerts_Processes checks the alerts of a stuck worker, a lagging replica and a NATS
// that does not respond.
func TestAlerts_Processes(t *testing.T) {
	tool(t, "prometheus")
	t.Parallel()
	f := newFleet(t, 1)
	f.organization("acme", 10, answering(t, http.StatusNoContent))
	p := scraping(t, scrapeEvery, hurried(rules(t)), f.targets()...)
	worker := f.workers[0]

	resume := slowDown(t, worker)
	for i := range 5 { // on a busy machine the worker may keep up with an import
		organization := fmt.Sprint("acme", i)
		f.organization(organization, 0, answering(t, http.StatusNoContent))
		f.homes(organization, 100_000, plan)
		if p.awaitsFor(30*time.Second, firing("GridhookReplicaLagging")) {
			break
		}
	}
	p.fires("GridhookReplicaLagging")
	resume()

	f.must(worker.Signal(syscall.SIGSTOP))
	f.trigger("acme")
	p.fires("GridhookWalksStuck")
	p.fires("GridhookDown")
	f.must(worker.Signal(syscall.SIGCONT))

	f.must(f.nats.Signal(syscall.SIGSTOP))
	p.fires("GridhookNotReady")
	f.must(f.nats.Signal(syscall.SIGCONT))
}

// slowDown lets a process run for a small part of the time, until resume is called.
func slowDown(t *testing.T, g *blackbox.Gridhook) (resume func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		const runs, rests = 2 * time.Millisecond, 100 * time.Millisecond
		for ctx.Err() == nil {
			_ = g.Signal(syscall.SIGCONT)
			wait(ctx, runs)
			_ = g.Signal(syscall.SIGSTOP)
			wait(ctx, rests)
		}
		_ = g.Signal(syscall.SIGCONT)
	}()
	return func() { cancel(); <-done }
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// TestAlerts_Disks checks the alerts of a full store and a full disk.
func TestAlerts_Disks(t *testing.T) {
	tool(t, "prometheus")
	t.Parallel()
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		serve := start(t, "serve", t.TempDir(), "--max-store", "64MiB")
		w := newWorld(t, serve)
		p := scraping(t, scrapeEvery, hurried(rules(t)), metricsAddress(serve))
		// It accepts what fits and refuses the rest.
		refused := false
		for i := range 10 {
			id := fmt.Sprintf("organization-%d", i)
			_, err := w.operator.CreateOrganization(t.Context(), client.NewOrganization{ID: id, Name: id})
			if err == nil {
				_, err = w.operator.Import(t.Context(), homeLines(id, 50_000, plan))
			}
			if refused = err != nil; refused {
				break
			}
		}
		if !refused {
			t.Error("half a million homes were accepted")
		}
		p.fires("GridhookStoreFilling")
		p.fires("GridhookStoreFull")
	})
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		if err := mount(t, data, 64<<20); err != nil {
			t.Skip(err)
		}
		serve := start(t, "serve", data)
		p := scraping(t, scrapeEvery, hurried(rules(t)), metricsAddress(serve))
		if err := os.WriteFile(filepath.Join(data, "ballast"), []byte(strings.Repeat("x", 59<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
		p.fires("GridhookDiskFull")
	})
}
