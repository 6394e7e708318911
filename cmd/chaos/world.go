package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// topology is the set of processes.
type topology string

const (
	// serve is everything in one process.
	serve topology = "serve"
	// fleet is a nats-server, an api and two workers.
	fleet topology = "fleet"
	// cluster is three nats-servers, two apis and three workers.
	cluster topology = "cluster"
)

// describe lists the processes of a topology.
func (t topology) describe() string {
	return map[topology]string{
		serve: "everything in one process", fleet: "nats-server, api, two workers",
		cluster: "three nats-servers, two apis, three workers",
	}[t]
}

// These limits of a worker are small, so that a walk takes long enough for faults to hit
// it.
const (
	slots     = 2 // slices walked in parallel
	atOnce    = 8 // requests in flight for each slice
	sliceSize = 64
)

const operatorKey = "gho_chaos_0123456789abcdef"

// world is the state of a round.
type world struct {
	dir      string
	topology topology
	binaries blackbox.Binaries
	data     func(name string) string

	nats     []*node
	nodes    []*node // the Gridhooks
	partners []*partner
	receivers
	triggers *ledger[request]
	http     *http.Client
	violated *violations
	// unavailable counts the 503 responses.
	unavailable atomic.Int64
	closers     []io.Closer
	// hopeful makes every receiver accept its deliveries.
	hopeful bool
	// settled is when everything must work again, some time after the last fault.
	settled time.Time
	// failpoints are active in every Gridhook that has them.
	failpoints string
}

// newWorld creates the ledgers, the receivers and the layout of the processes. Each
// process has its own folder. begin starts the processes.
func newWorld(dir string, t topology, b blackbox.Binaries, data func(name string) string) (*world, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	accepted, err := newLedger[request](dir, "accepted.ndjson")
	if err != nil {
		return nil, err
	}
	arrived, err := newLedger[arrival](dir, "arrived.ndjson")
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = func(name string) string { return filepath.Join(dir, name) }
	}
	w := &world{
		dir: dir, data: data, topology: t, binaries: b, triggers: accepted, violated: &violations{},
		receivers: *newReceivers(arrived),
		http:      &http.Client{Timeout: 20 * time.Second},
	}
	return w, w.layOut()
}

// layOut chooses the processes and their addresses.
func (w *world) layOut() error {
	if w.topology == serve {
		return w.addGridhook("serve", "serve")
	}
	servers := map[topology]int{fleet: 1, cluster: 3}[w.topology]
	if err := w.addServers(servers); err != nil {
		return err
	}
	roles := map[topology][]string{
		fleet:   {"api", "worker", "worker"},
		cluster: {"api", "api", "worker", "worker", "worker"},
	}[w.topology]
	for i, role := range roles {
		if err := w.addGridhook(role, role+"-"+strconv.Itoa(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// addServers adds nats-servers. Several servers form a cluster.
func (w *world) addServers(n int) error {
	clients, routes := make([]string, n), make([]string, n)
	for i := range n {
		var err1, err2 error
		clients[i], err1 = blackbox.FreeAddress()
		routes[i], err2 = blackbox.FreeAddress()
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
	}
	for i := range n {
		name := "nats-" + strconv.Itoa(i+1)
		log, err := logFile(w.dir, name)
		if err != nil {
			return err
		}
		w.closers = append(w.closers, log)
		server := &blackbox.NATS{
			Binary: w.binaries.NATS, Dir: w.data(name), Address: clients[i],
			Log: log, Patience: patience,
		}
		if n > 1 {
			server.Name, server.Cluster = name, routes[i]
			server.Routes = slices.Delete(slices.Clone(routes), i, i+1)
		}
		w.nats = append(w.nats, &node{
			name: name, role: "nats", data: server.Dir, api: clients[i],
			begin: func(...string) (*blackbox.Process, error) { return server.Start() },
		})
	}
	return nil
}

// addGridhook adds a Gridhook with its own lines to the nats-servers.
func (w *world) addGridhook(role, name string) error {
	n := &node{name: name, role: role, data: w.data(name)}
	var err1, err2 error
	n.api, err1 = blackbox.FreeAddress()
	n.admin, err2 = blackbox.FreeAddress()
	log, err3 := logFile(w.dir, name)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	w.closers = append(w.closers, log)
	args := []string{"--openadr"}
	if n.servesAPI() {
		args = append(args, "--rate-limit", "10000", "--rate-burst", "10000", "--max-waiting", "0", "--max-history", "0", "--operator-key", operatorKey, "--openadr-verify-callbacks=false")
	}
	if n.delivers() {
		args = append(args, "--slices", strconv.Itoa(slots), "--concurrency", strconv.Itoa(slots*atOnce), "--drain-timeout", "10s")
	}
	if urls, err := w.connect(n); err != nil {
		return err
	} else if urls != "" {
		args = append(args, "--nats", urls, "--nats-replicas", strconv.Itoa(len(w.nats)))
	}
	n.begin = func(failpoints ...string) (*blackbox.Process, error) {
		g, err := blackbox.StartGridhook(blackbox.Run{
			Binary: w.binaries.Gridhook, Role: role, Data: n.data, HTTP: n.api, Admin: n.admin,
			Args: args, Log: log, Patience: patience,
			Env: []string{blackbox.FailpointEnv + "=" + strings.Join(append(failpoints, w.failpoints), ";")},
		})
		return g.Process, err
	}
	w.nodes = append(w.nodes, n)
	return nil
}

// connect creates a node's lines and returns their addresses as NATS URLs.
func (w *world) connect(n *node) (string, error) {
	var urls []string
	for _, server := range w.nats {
		p, err := newProxy(server.api)
		if err != nil {
			return "", err
		}
		n.lines = append(n.lines, p)
		urls = append(urls, "nats://"+p.address())
	}
	return strings.Join(urls, ","), nil
}

// begin starts all processes and creates the partners' data.
func (w *world) begin() error {
	if err := startAll(w.nats); err != nil {
		return err
	}
	if err := w.firstReady(); err != nil {
		return err
	}
	return w.furnish()
}

// firstReady starts the Gridhooks. In a new cluster, streams may not have a leader yet.
// A Gridhook that fails because of that is started again.
func (w *world) firstReady() error {
	const tries = 5
	for _, n := range w.nodes {
		err := n.start()
		for try := 1; err != nil && w.topology == cluster && try < tries; try++ {
			time.Sleep(time.Second)
			err = n.start()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// those returns the nodes that satisfy a condition.
func (w *world) those(is func(*node) bool) []*node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n *node) bool { return !is(n) })
}

// operator returns an operator's client of an api that acts for an organization.
func (w *world) operator(n *node, org string) *client.Client {
	return &client.Client{BaseURL: "http://" + n.admin, Key: operatorKey, Organization: org, HTTP: w.http}
}

// end kills all processes and closes the ledgers.
func (w *world) end() error {
	for _, n := range slices.Concat(w.nodes, w.nats) {
		n.kill()
		for _, p := range n.lines {
			p.close()
		}
	}
	w.receivers.close()
	var errs []error
	for _, c := range w.closers {
		errs = append(errs, c.Close())
	}
	if err := errors.Join(append(errs, w.triggers.close(), w.ledger.close())...); err != nil {
		return fmt.Errorf("close the ledgers: %w", err)
	}
	return nil
}
