package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// patience bounds every wait for an expected event.
const patience = 60 * time.Second

// node is one process of the world. It restarts with the same addresses.
type node struct {
	name string
	role string // serve, api, worker or nats
	// data is its data folder.
	data string
	// api and admin are a Gridhook's listening addresses.
	api, admin string
	// lines connect a Gridhook to its nats-servers.
	lines []*proxy
	begin func(failpoints ...string) (*blackbox.Process, error)

	mu      sync.Mutex
	process *blackbox.Process
}

func (n *node) delivers() bool  { return n.role == "serve" || n.role == "worker" }
func (n *node) servesAPI() bool { return n.role == "serve" || n.role == "api" }

// start starts the node with further failpoints active and waits until it is ready.
func (n *node) start(failpoints ...string) error {
	p, err := n.begin(failpoints...)
	if err != nil {
		return fmt.Errorf("%s: %w (see %s.log)", n.name, err, n.name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process = p
	return nil
}

func (n *node) running() *blackbox.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

// kill sends SIGKILL.
func (n *node) kill() {
	if p := n.running(); p != nil {
		p.Kill()
	}
}

// stop sends SIGTERM and waits for a clean exit.
func (n *node) stop() error {
	if err := n.running().Stop(patience); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	return nil
}

// pause sends SIGSTOP and continues the process after d.
func (n *node) pause(d time.Duration) error {
	if err := n.running().Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(d)
	return n.running().Signal(syscall.SIGCONT)
}

// files returns the paths of the node's bbolt files.
func (n *node) files() []string {
	names, _ := filepath.Glob(filepath.Join(n.data, "*.db")) // the pattern is right
	return names
}

// logFile opens the log of a node's output.
func logFile(dir, name string) (io.WriteCloser, error) {
	return os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// died returns an error if the node ended by itself.
func (n *node) died() error {
	select {
	case <-n.running().Exited():
		return fmt.Errorf("%s ended by itself with exit code %d (see %s.log)", n.name, n.running().ExitCode(), n.name)
	default:
		return nil
	}
}

// startAll starts nodes in parallel.
func startAll(nodes []*node) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = n.start() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
