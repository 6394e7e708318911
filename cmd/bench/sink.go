package main

import (
	"context"
	"crypto/tls"
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

	"golang.org/x/sync/errgroup"
)

// sinkCommand is the argument that makes this program run ServeSink.
const sinkCommand = "bench-sink"

// slowAnswer is the response time at /slow.
const slowAnswer = 20 * time.Millisecond

// Arrivals counts the requests that a sink received since its last reset.
type Arrivals struct {
	Requests int64 `json:"requests"`
	// Handshakes counts the TLS connections opened.
	Handshakes int64     `json:"handshakes"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
}

// counter counts arrivals and wakes the waiter for a number of them.
type counter struct {
	requests, handshakes, first, last, target atomic.Int64

	// secured are the open connections over TLS.
	secured sync.Map

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
	c.handshakes.Store(0)
	c.first.Store(0)
	c.last.Store(0)
}

// wait returns a channel that closes after n requests have arrived.
func (c *counter) wait(n int64) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan struct{})
	c.done = done
	c.target.Store(n)
	if c.requests.Load() >= n { // the last request may have arrived before it saw the target
		c.done = nil
		close(done)
	}
	return done
}

func (c *counter) arrivals() Arrivals {
	return Arrivals{
		Requests: c.requests.Load(), Handshakes: c.handshakes.Load(), First: time.Unix(0, c.first.Load()), Last: time.Unix(0, c.last.Load()),
	}
}

// sinkAddress is the line that a sink writes when it listens.
type sinkAddress struct {
	// URL is for plain HTTP, SecureURL for TLS.
	URL       string `json:"url"`
	SecureURL string `json:"secureUrl"`
	// Certificate is the certificate of SecureURL in DER.
	Certificate []byte `json:"certificate"`
}

// ServeSink receives deliveries on free ports of the loopback until in ends. It writes
// its addresses to out.
func ServeSink(in io.Reader, out io.Writer) error {
	plain, err := listenLoopback()
	if err != nil {
		return err
	}
	secured, err := listenLoopback()
	if err != nil {
		return err
	}
	certificate, err := newCertificate()
	if err != nil {
		return err
	}
	c := &counter{}
	mux := sinkRoutes(c)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	secure := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ConnState: c.track,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	mux.HandleFunc("GET /reset", func(http.ResponseWriter, *http.Request) {
		c.disconnect() // the next client performs a handshake
		c.reset()
	})
	go func() {
		_, _ = io.Copy(io.Discard, in) // ends with the parent
		_, _ = server.Close(), secure.Close()
	}()
	err = json.NewEncoder(out).Encode(sinkAddress{
		URL: "http://" + plain.address() + "/", SecureURL: "https://" + secured.address() + "/", Certificate: certificate.Certificate[0],
	})
	if err != nil {
		return err
	}
	var serving errgroup.Group
	serving.Go(func() error { return server.Serve(plain) })
	serving.Go(func() error { return secure.ServeTLS(secured, "", "") })
	if err := serving.Wait(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// sinkRoutes returns the handlers for deliveries and for queries of the counter.
func sinkRoutes(c *counter) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a truncated request shows in the sender's count
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
	newRecovering().serve(mux)
	mux.HandleFunc("GET /wait", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.FormValue("n"), 10, 64)
		select {
		case <-c.wait(n):
		case <-r.Context().Done():
			return
		}
		_ = json.NewEncoder(w).Encode(c.arrivals()) // the peer may be gone
	})
	return mux
}

// listenLoopback listens on a free port. Every address of 127.0.0.0/8 reaches the port.
// To a sender, each address is a separate host.
func listenLoopback() (loopbackOnly, error) {
	all, err := net.Listen("tcp4", ":0") //nolint:noctx,gosec // at once; others are turned away
	return loopbackOnly{all}, err
}

// loopbackOnly refuses connections from other machines.
type loopbackOnly struct{ net.Listener }

func (l loopbackOnly) address() string {
	return fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port)
}

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
	sinkAddress
	*child
}

// StartSink runs this program's sink subcommand.
func StartSink(ctx context.Context) (*Sink, error) {
	return newSink(startChild(ctx, sinkCommand))
}

func newSink(c *child, err error) (*Sink, error) {
	if err != nil {
		return nil, err
	}
	s := &Sink{child: c}
	if err := json.Unmarshal([]byte(c.line), &s.sinkAddress); err != nil {
		return nil, errors.Join(fmt.Errorf("read the addresses of the sink: %w", err), c.Close())
	}
	return s, nil
}

// hostURL returns a URL of the sink on one of many hosts. Only Linux has these hosts;
// other systems get the URL unchanged.
func hostURL(url string, host int) string {
	if runtime.GOOS != "linux" {
		return url
	}
	return strings.Replace(url, "127.0.0.1", hostAddress(host).String(), 1)
}

// hostAddress returns the address of one of many hosts.
func hostAddress(host int) net.IP { return net.IPv4(127, 0, byte(1+host/250), byte(1+host%250)) }

// Reset resets the counter.
func (s *Sink) Reset(ctx context.Context) error { return s.get(ctx, "reset", nil) }

// Wait returns the arrivals after n requests have arrived.
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
