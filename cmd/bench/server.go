package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// server is a Gridhook in its own process. It can be killed, and its memory and processor
// time count alone.
type server struct {
	dir      string
	binary   string
	args     []string
	running  *blackbox.Gridhook
	Operator *client.Client
}

// startServer starts a server with a new folder. args are additional flags.
func startServer(o Options, args ...string) (*server, error) {
	binaries, err := o.binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gridhook-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, binary: binaries.Gridhook, args: args}
	if _, err := s.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// start starts the process and returns the time until it is ready.
func (s *server) start() (took time.Duration, err error) {
	began := time.Now()
	s.running, err = blackbox.StartGridhook(blackbox.Run{
		Binary: s.binary, Role: "serve", Data: s.dir, Patience: 5 * time.Minute,
		Args: append([]string{"--rate-limit", "1000000", "--rate-burst", "1000000", "--max-waiting", "0", "--log-level", "error", "--profiles"}, s.args...),
	})
	if err != nil {
		return 0, err
	}
	took = time.Since(began)
	s.Operator, err = operatorOf(s.running)
	return took, err
}

// operatorOf returns a client with the operator's key of a process.
func operatorOf(g *blackbox.Gridhook) (*client.Client, error) {
	key, err := os.ReadFile(filepath.Join(g.Data, app.OperatorKeyFile)) //nolint:gosec // it was made just now
	if err != nil {
		return nil, err
	}
	return &client.Client{BaseURL: g.Admin, Key: strings.TrimSpace(string(key))}, nil
}

// restart kills the process with SIGKILL, starts it again and returns the time until it
// is ready.
func (s *server) restart() (time.Duration, error) {
	s.running.Kill()
	return s.start()
}

// Close stops the process and removes its files.
func (s *server) Close() error {
	return errors.Join(s.running.Stop(time.Minute), os.RemoveAll(s.dir))
}

// metric returns a metric of the process, summed over its labels.
func (s *server) metric(ctx context.Context, name string) (sum float64, err error) {
	return metricAt(ctx, s.running.Admin, name)
}

// metricAt returns a metric of the process at an admin address, summed over its labels.
func metricAt(ctx context.Context, admin, name string) (sum float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, admin+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	sum, found, err := sumOf(response.Body, name)
	if err == nil && !found {
		err = fmt.Errorf("there is no metric %s", name)
	}
	return sum, err
}

// sumOf sums a metric in the Prometheus text format.
func sumOf(metrics io.Reader, name string) (sum float64, found bool, err error) {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, false, err
		}
		sum, found = sum+value, true
	}
	return sum, found, lines.Err()
}

// stored returns the size of the message system's files in MB.
func (s *server) stored(ctx context.Context) (float64, error) {
	bytes, err := s.metric(ctx, "gridhook_store_used_bytes")
	return bytes / megabyte, err
}
