package embedded_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/gridhook/gridhook/events/embedded"
)

const patience = time.Minute

func start(t *testing.T, dir string) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{Dir: dir, StartTimeout: patience, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *embedded.Server) {
	t.Helper()
	if err := s.Stop(patience); err != nil {
		t.Error(err)
	}
}

func connect(t *testing.T, s *embedded.Server, more ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect("", append([]nats.Option{s.Option()}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func TestServer_RestartKeepsData(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(t.TempDir(), "nats")
	for round := uint64(1); round <= 3; round++ {
		s := start(t, dir)
		nc, js := connect(t, s)
		_, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Storage: jetstream.FileStorage})
		if err != nil {
			t.Fatal(err)
		}
		ack, err := js.Publish(t.Context(), "s", []byte("x"))
		if err != nil || ack.Sequence != round {
			t.Fatalf("round %d: stored as %+v, %v", round, ack, err)
		}
		nc.Close()
		stop(t, s)
	}
}

func TestServer_NoPort(t *testing.T) {
	s := start(t, t.TempDir())
	defer stop(t, s)
	nc, _ := connect(t, s)
	defer nc.Close()
	if addr := nc.ConnectedAddr(); addr != "pipe" {
		t.Errorf("client is connected to %q", addr)
	}
}

func TestServer_FullStore(t *testing.T) {
	s, err := embedded.Start(embedded.Options{Dir: t.TempDir(), MaxStore: 1 << 20, StartTimeout: patience, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	nc, js := connect(t, s)
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err = js.Publish(t.Context(), "s", make([]byte, 200<<10)); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "insufficient") {
		t.Errorf("2 MB into 1 MiB: %v", err)
	}
	if usage, err := s.Usage(); err != nil || usage.Limit != 1<<20 || usage.Used < 800<<10 {
		t.Errorf("usage is %+v, %v", usage, err)
	}
	if info, err := js.Stream(t.Context(), "S"); err != nil || info.CachedInfo().State.Msgs == 0 {
		t.Errorf("the earlier data is gone: %v", err)
	}
}

// A server does not start with a file that it may not read. nats-server would delete the
// stream of that file.
func TestServer_ForeignFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read every file")
	}
	dir := t.TempDir()
	s := start(t, dir)
	nc, js := connect(t, s)
	cfg := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}
	_, err := js.CreateStream(t.Context(), cfg)
	if err == nil {
		_, err = js.Publish(t.Context(), "s", []byte("x"))
	}
	nc.Close()
	stop(t, s)
	files, globbed := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "S", "msgs", "*.blk"))
	if err != nil || globbed != nil || len(files) != 1 {
		t.Fatalf("the stream has the files %q, %v, %v", files, err, globbed)
	}
	if err := os.Chmod(files[0], 0); err != nil {
		t.Fatal(err)
	}
	_, err = embedded.Start(embedded.Options{Dir: dir, StartTimeout: patience, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("got %v, want an error that names the file", err)
	}
	if err := os.Chmod(files[0], 0o600); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir)
	defer stop(t, s)
	nc, js = connect(t, s)
	defer nc.Close()
	if stream, err := js.CreateOrUpdateStream(t.Context(), cfg); err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("the message is lost: %v", err)
	}
}

func TestServer_InvalidFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err := embedded.Start(embedded.Options{Dir: path, StartTimeout: time.Hour, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the folder", err)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("the error took %s", took)
	}
}
