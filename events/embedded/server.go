package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Options configure the server.
type Options struct {
	// Dir is the directory of JetStream's files.
	Dir string
	// MaxStore limits the size of JetStream's files, in bytes. With 0 the server uses up
	// to three quarters of the free disk. With a limit below the disk's size, a full
	// store refuses writes cleanly.
	MaxStore int64
	// MQTT opens a listener for MQTT clients. If it is nil, there is none.
	MQTT *MQTT
	// StartTimeout limits the recovery of the server's files.
	StartTimeout time.Duration
	Log          *slog.Logger

	// lazySync leaves the time of a write's fsync to the server.
	lazySync bool
}

// Server is a running nats-server. It can restart while clients are connected.
type Server struct {
	options  Options
	password string // of this process's own connections

	front *front // nil without MQTT

	mu       sync.RWMutex // held during a restart
	ns       *server.Server
	accounts *accounts
}

// Start starts a server and returns when it is ready. The server fsyncs every write of a
// stream, unless the stream's settings say otherwise. So accepted messages survive a
// power cut.
func Start(o Options) (*Server, error) {
	s := &Server{options: o, password: rand.Text()}
	if o.MQTT != nil {
		var err error
		if s.front, err = o.MQTT.listen(o.Log); err != nil {
			return nil, err
		}
	}
	if err := s.start(); err != nil {
		s.closeFront()
		return nil, err
	}
	if s.front != nil {
		s.front.running.Go(s.front.accept)
		s.front.running.Go(s.limitClients)
	}
	return s, nil
}

func (s *Server) closeFront() {
	if s.front != nil {
		s.front.close()
	}
}

// start starts the server. If the start fails, the server stays stopped.
func (s *Server) start() error {
	own := &accounts{
		dir: s.options.Dir, store: s.options.MaxStore, front: s.front, password: s.password, log: s.options.Log,
	}
	if err := checkAccess(s.options.Dir); err != nil {
		return err
	}
	if err := own.removeErased(); err != nil {
		return fmt.Errorf("remove the folders of erased organizations: %w", err)
	}
	options := s.options.server(own)
	ns, err := run(s.options, options, own)
	if err != nil {
		return err
	}
	s.ns, s.accounts = ns, own
	if s.front != nil {
		s.front.server.Store(int32(options.MQTT.Port)) //nolint:gosec // a port
	}
	return nil
}

// server returns the options in nats-server's form. Only this process can connect to the server,
// apart from MQTT clients.
func (o *Options) server(own *accounts) *server.Options {
	options := &server.Options{
		ServerName:        "gridhook",
		DontListen:        true,
		JetStream:         true,
		StoreDir:          o.Dir,
		JetStreamMaxStore: o.MaxStore,
		SyncAlways:        !o.lazySync,
		NoSigs:            true,
		MaxPayload:        8 << 20,
		MaxPending:        256 << 20,
		// Per-account limits only matter for servers that strangers connect to.
		MaxConn: 1024,
	}
	// gofail: var bugLazySync struct{}
	// options.SyncAlways = false
	if o.MQTT != nil {
		o.MQTT.configure(options, own)
	}
	return options
}

// checkAccess returns an error if this process may not read and write a file of the server.
// The server leaves out a stream with such a file, and may delete its folder.
func checkAccess(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // in the server's folder
		if err != nil {
			return err
		}
		return f.Close()
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: give all files under %s to the user of this process", err, dir)
	}
	return err
}

func run(o Options, options *server.Options, own *accounts) (*server.Server, error) {
	ns, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("set up the embedded nats-server: %w", err)
	}
	own.server = ns
	log := &logger{log: o.Log, front: own.front}
	ns.SetLoggerV2(log, false, false, false)
	ns.Start()
	why := log.fatal.Load()
	switch {
	case why != nil:
		err = fmt.Errorf("the embedded nats-server did not start on %s: %s", o.Dir, *why)
	case !ns.ReadyForConnections(o.StartTimeout):
		err = fmt.Errorf("the embedded nats-server was not ready within %s: see the log above, and the disk under %s", o.StartTimeout, o.Dir)
	case !ns.JetStreamEnabled():
		err = fmt.Errorf("the embedded nats-server cannot use %s: see the log above", o.Dir)
	}
	if err != nil {
		ns.Shutdown()
	}
	return ns, err
}

// Option makes a client connect to the server in memory, and reconnect after a restart of
// the server.
func (s *Server) Option() nats.Option {
	return func(o *nats.Options) error {
		return errors.Join(nats.InProcessServer(s)(o), nats.UserInfo(s.Credentials(""))(o))
	}
}

// InProcessConn returns a connection for a client.
func (s *Server) InProcessConn() (net.Conn, error) { return s.running().InProcessConn() }

func (s *Server) running() *server.Server {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ns
}

// Healthy returns the reason why the server cannot store messages, or nil. After a write
// error, such as a full disk, a stream stores nothing until the server restarts.
func (s *Server) Healthy() error {
	s.mu.RLock()
	ns, accounts := s.ns, s.accounts
	s.mu.RUnlock()
	// The server allows itself one millisecond to report that it is ready for
	// connections. A busy machine needs longer, so Healthy does not count that failure
	// alone.
	for try := 1; ; try++ {
		status := ns.Healthz(&server.HealthzOptions{Details: true})
		failed := slices.DeleteFunc(status.Errors, accounts.closed)
		if len(failed) == 0 {
			return nil
		}
		if try == 10 || !ns.ReadyForConnections(time.Second) {
			return errors.New(failed[0].Error)
		}
	}
}

// EraseMQTT deletes the MQTT sessions and messages of an organization.
func (s *Server) EraseMQTT(org string) error {
	return s.organizations().erase(org)
}

func (s *Server) organizations() *accounts {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.accounts
}

// Usage is the size and the limit of JetStream's files, in bytes.
type Usage struct{ Used, Limit uint64 }

// Usage returns the size of the server's store and its limit.
func (s *Server) Usage() (Usage, error) {
	info, err := s.running().Jsz(nil)
	if err != nil {
		return Usage{}, fmt.Errorf("read the usage of the embedded nats-server: %w", err)
	}
	return Usage{Used: info.Store, Limit: uint64(max(info.Config.MaxStore, 0))}, nil
}

// Restart stops the server and starts it again on the same files. Clients reconnect by
// themselves. If the start fails, the server stays stopped, and the caller may retry.
func (s *Server) Restart(timeout time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.front != nil {
		s.front.server.Store(0) // another process may get the port
	}
	if err := stop(s.ns, timeout); err != nil {
		return err
	}
	return s.start()
}

// Stop stops the server and waits until its files are closed.
func (s *Server) Stop(timeout time.Duration) error {
	s.closeFront()
	return stop(s.running(), timeout)
}

func stop(ns *server.Server, timeout time.Duration) error {
	ns.Shutdown()
	done := make(chan struct{})
	go func() { ns.WaitForShutdown(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(timeout):
		return errors.New("the embedded nats-server did not stop in time")
	}
}
