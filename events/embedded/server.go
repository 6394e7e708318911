package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Options configure the server.
type Options struct {
	// Dir is where JetStream keeps its files.
	Dir string
	// MaxStore limits JetStream's files, in bytes; 0 lets the server take three
	// quarters of the free disk. A limit below the disk's size makes a full
	// store a clean refusal.
	MaxStore int64
	// Listen is host:port to open to clients over the network, without any
	// credentials; empty opens none, and clients are those of this process.
	Listen string
	// StartTimeout is how long the server may take to recover its files.
	StartTimeout time.Duration
	Log          *slog.Logger
}

// Server is a running nats-server. It can be restarted under its clients.
type Server struct {
	options Options

	mu sync.RWMutex // held while it is restarted
	ns *server.Server
}

// Start starts a server and returns when it is ready. Every stream is fsynced
// at each write unless the stream itself asks otherwise: what was accepted
// survives a power cut.
func Start(o Options) (*Server, error) {
	ns, err := start(o)
	if err != nil {
		return nil, err
	}
	return &Server{options: o, ns: ns}, nil
}

func start(o Options) (*server.Server, error) {
	host, port, err := o.listen()
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(&server.Options{
		ServerName:        "gridhook",
		DontListen:        o.Listen == "",
		Host:              host,
		Port:              port,
		JetStream:         true,
		StoreDir:          o.Dir,
		JetStreamMaxStore: o.MaxStore,
		SyncAlways:        true,
		NoSigs:            true,
		MaxPayload:        8 << 20,
		MaxPending:        256 << 20,
		// Per-account limits are for servers that strangers connect to.
		MaxConn: 1024,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the embedded nats-server: %w", err)
	}
	log := &logger{log: o.Log}
	ns.SetLoggerV2(log, false, false, false)
	ns.Start()
	if why := log.fatal.Load(); why != nil {
		ns.Shutdown()
		return nil, fmt.Errorf("the embedded nats-server did not start on %s: %s", o.Dir, *why)
	}
	if !ns.ReadyForConnections(o.StartTimeout) {
		ns.Shutdown()
		return nil, fmt.Errorf("the embedded nats-server was not ready within %s: see the log above, and the disk under %s", o.StartTimeout, o.Dir)
	}
	if !ns.JetStreamEnabled() {
		ns.Shutdown()
		return nil, fmt.Errorf("the embedded nats-server cannot use %s: see the log above", o.Dir)
	}
	return ns, nil
}

func (o *Options) listen() (host string, port int, err error) {
	if o.Listen == "" {
		return "", 0, nil
	}
	address, err := net.ResolveTCPAddr("tcp", o.Listen)
	if err != nil {
		return "", 0, fmt.Errorf("where the nats-server listens: %w", err)
	}
	if port = address.Port; port == 0 {
		port = server.RANDOM_PORT
	}
	return address.IP.String(), port, nil
}

// ClientURL is where clients connect; of use with Options.Listen.
func (s *Server) ClientURL() string { return s.running().ClientURL() }

// Option makes a client connect to the server in memory, and connect again once
// the server was restarted.
func (s *Server) Option() nats.Option { return nats.InProcessServer(s) }

// InProcessConn is a client's connection.
func (s *Server) InProcessConn() (net.Conn, error) { return s.running().InProcessConn() }

func (s *Server) running() *server.Server {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ns
}

// Healthy says what keeps the server from storing, nil when nothing does. A
// stream that met a write error, such as a full disk, stores nothing more until
// the server is restarted.
func (s *Server) Healthy() error {
	ns := s.running()
	status := ns.Healthz(nil)
	// The server gives itself a millisecond to say that it is ready for connections,
	// which on a busy machine is too little: that alone is no reason.
	for range 10 {
		if status.Error == "" || !ns.ReadyForConnections(time.Second) {
			break
		}
		status = ns.Healthz(nil)
	}
	if status.Error != "" {
		return errors.New(status.Error)
	}
	return nil
}

// Restart stops the server and starts it again on the same files. Clients
// reconnect by themselves. When it does not start it stays stopped, and Restart
// may be tried again.
func (s *Server) Restart(timeout time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := stop(s.ns, timeout); err != nil {
		return err
	}
	ns, err := start(s.options)
	if err == nil {
		s.ns = ns
	}
	return err
}

// ErrStopTimeout says that the server did not stop in time.
var ErrStopTimeout = errors.New("the embedded nats-server did not stop in time")

// Stop stops the server and waits until its files are closed.
func (s *Server) Stop(timeout time.Duration) error { return stop(s.running(), timeout) }

func stop(ns *server.Server, timeout time.Duration) error {
	ns.Shutdown()
	done := make(chan struct{})
	go func() { ns.WaitForShutdown(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(timeout):
		return ErrStopTimeout
	}
}
