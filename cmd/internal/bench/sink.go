package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// SinkCommand is the hidden subcommand that runs ServeSink in its own process.
const SinkCommand = "bench-sink"

// slowAnswer is how long the sink takes to answer at /slow.
const slowAnswer = 20 * time.Millisecond

// Arrivals is what a sink got since it was last reset.
type Arrivals struct {
	Requests int64     `json:"requests"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// counter counts arrivals and wakes who waits for a number of them.
type counter struct {
	requests, first, last, target atomic.Int64

	mu   sync.Mutex
	done chan struct{}
}

func (c *counter) arrived() {
	now := time.Now().UnixNano()
	n := c.requests.Add(1)
	if n == 1 {
		c.first.Store(now)
	}
	c.last.Store(now)
	if n < c.target.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil && n >= c.target.Load() {
		close(c.done)
		c.done = nil
	}
}

func (c *counter) reset() {
	c.requests.Store(0)
	c.first.Store(0)
	c.last.Store(0)
}

// wait returns a channel that closes once n requests have come.
func (c *counter) wait(n int64) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan struct{})
	c.done = done
	c.target.Store(n)
	if c.requests.Load() >= n { // the last one may have come before it saw the target
		c.done = nil
		close(done)
	}
	return done
}

func (c *counter) arrivals() Arrivals {
	return Arrivals{Requests: c.requests.Load(), First: time.Unix(0, c.first.Load()), Last: time.Unix(0, c.last.Load())}
}

// ServeSink takes deliveries on a free port of the loopback until stdin ends. It
// writes its address to out.
func ServeSink(in io.Reader, out io.Writer) error {
	// All of 127.0.0.0/8 reaches it: each address is a host of its own to a sender.
	all, err := net.Listen("tcp4", ":0") //nolint:noctx,gosec // at once; others are turned away
	if err != nil {
		return err
	}
	l := loopbackOnly{all}
	c := &counter{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a broken request shows in the sender's count
		c.arrived()
		w.WriteHeader(http.StatusOK)
	})
	mux.HandleFunc("POST /slow", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(slowAnswer)
		c.arrived()
	})
	for _, f := range faults {
		if f.serve != nil {
			mux.HandleFunc("POST /"+f.name, f.serve)
		}
	}
	newStumbler().serve(mux)
	newComeback().serve(mux)
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) { c.reset() })
	mux.HandleFunc("GET /wait", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.FormValue("n"), 10, 64)
		select {
		case <-c.wait(n):
		case <-r.Context().Done():
			return
		}
		_ = json.NewEncoder(w).Encode(c.arrivals()) // the peer may be gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, in) // ends with the parent
		_ = server.Close()
	}()
	if _, err := fmt.Fprintf(out, "127.0.0.1:%d\n", l.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// loopbackOnly takes no connections from other machines.
type loopbackOnly struct{ net.Listener }

func (l loopbackOnly) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from, ok := c.RemoteAddr().(*net.TCPAddr); ok && from.IP.IsLoopback() {
			return c, nil
		}
		_ = c.Close()
	}
}

// Sink is a receiver in its own process.
type Sink struct {
	// URL is where it takes deliveries.
	URL string

	*child
}

// StartSink runs this program's sink subcommand.
func StartSink(ctx context.Context) (*Sink, error) {
	c, err := startChild(ctx, SinkCommand)
	if err != nil {
		return nil, err
	}
	return &Sink{URL: "http://" + c.line + "/", child: c}, nil
}

// at is the sink at one of many hosts, where the system has them, as Linux does.
func (s *Sink) at(host int) string {
	if runtime.GOOS != "linux" {
		return s.URL
	}
	return strings.Replace(s.URL, "127.0.0.1", fmt.Sprintf("127.0.%d.%d", 1+host/250, 1+host%250), 1)
}

// Reset begins counting anew.
func (s *Sink) Reset(ctx context.Context) error { return s.get(ctx, "reset", nil) }

// Wait returns what came once n requests have come.
func (s *Sink) Wait(ctx context.Context, n int) (Arrivals, error) {
	var a Arrivals
	err := s.get(ctx, "wait?n="+strconv.Itoa(n), &a)
	return a, err
}

func (s *Sink) get(ctx context.Context, path string, into any) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}
