// Package blackboxtest runs real binaries for the time of a test.
package blackboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// shown is the number of bytes from a log's end that a failure shows.
const shown = 4000

// Start starts Gridhook and kills it when the test ends. A failed test shows the end of
// the log.
func Start(t *testing.T, r blackbox.Run) *blackbox.Gridhook {
	t.Helper()
	logs := &Tail{}
	r.Log = logs
	g, err := blackbox.StartGridhook(r)
	if err != nil {
		t.Fatalf("%s is not ready: %v\n%s", r.Role, err, logs.Last(shown))
	}
	t.Cleanup(func() { end(t, r.Role, g.Process, logs) })
	return g
}

// StartProcess starts any program in the same way.
func StartProcess(t *testing.T, name string, s blackbox.Spec) *blackbox.Process {
	t.Helper()
	logs := &Tail{}
	s.Log = logs
	p, err := blackbox.Start(s)
	if err != nil {
		t.Fatalf("%s is not ready: %v\n%s", name, err, logs.Last(shown))
	}
	t.Cleanup(func() { end(t, name, p, logs) })
	return p
}

// StartNATS starts a nats-server with the recommended settings and returns its URL.
func StartNATS(t *testing.T, binary string, patience time.Duration) (url string, server *blackbox.Process) {
	t.Helper()
	address, err := blackbox.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	server, err = (&blackbox.NATS{Binary: binary, Dir: t.TempDir(), Address: address, Patience: patience}).Start()
	if err != nil {
		t.Fatalf("nats-server: %v", err)
	}
	t.Cleanup(server.Kill)
	return "nats://" + address, server
}

func end(t *testing.T, name string, p *blackbox.Process, logs *Tail) {
	p.Kill()
	if t.Failed() {
		t.Logf("the end of what %s logged:\n%s", name, logs.Last(shown))
	}
}

// OperatorKey returns the operator's key that a process created.
func OperatorKey(t *testing.T, g *blackbox.Gridhook) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(g.Data, "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

// Operator returns an operator's client of a process.
func Operator(t *testing.T, g *blackbox.Gridhook) *client.Client {
	t.Helper()
	return &client.Client{BaseURL: g.Admin, Key: OperatorKey(t, g)}
}
