package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridhook/gridhook/events/periodic"
)

// Sizes in bytes of the buffers of a connection: the front's own, and the kernel's, which would
// otherwise store some MiB that the client has not read.
const (
	frontBuffer  = 4 << 10
	kernelBuffer = 64 << 10
)

// front listens for MQTT clients, and forwards their packets to nats-server within limits.
// While the server restarts, the front keeps its port and closes the connections.
type front struct {
	*MQTT
	log      *slog.Logger
	listener net.Listener
	server   atomic.Int32 // port of nats-server's MQTT listener, 0 while it does not run
	links    sync.Map     // *link by the port from which the front dialed nats-server
	changes  sync.Map     // *rate.Limiter of changeRate by organization
	stopping context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// close closes the port and all connections. It waits until their goroutines have ended.
func (f *front) close() {
	f.stop()
	_ = f.listener.Close()
	f.running.Wait()
}

// accept serves connections until close is called.
func (f *front) accept() {
	for f.stopping.Err() == nil {
		client, err := f.listener.Accept()
		if err != nil {
			if f.stopping.Err() == nil {
				f.log.Error("MQTT connection not accepted", "error", err)
				periodic.Sleep(f.stopping, time.Second) // such as until a file descriptor is free
			}
			continue
		}
		release, ok := func() {}, true
		if f.Take != nil {
			release, ok = f.Take(client.RemoteAddr())
		}
		if !ok {
			_ = client.Close() // without a TLS handshake
			continue
		}
		f.running.Go(func() {
			defer release()
			f.serve(client)
		})
	}
}

// serve forwards the bytes of a connection until one of its two ends closes it.
func (f *front) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	_ = client.(*net.TCPConn).SetWriteBuffer(kernelBuffer)
	if f.TLS != nil {
		secure := tls.Server(client, f.TLS)
		if err := f.handshake(secure); err != nil {
			return
		}
		client = secure
	}
	server, err := f.dial(f.stopping)
	if err != nil {
		return // clients connect again
	}
	port := server.LocalAddr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(f.stopping)
	l := newLink(client, server, f.timeout())
	l.close = sync.OnceFunc(func() {
		f.links.Delete(port) // before the close: another connection may get the port then
		cancel()
		_, _ = server.Close(), client.Close()
	})
	f.links.Store(port, l)
	defer context.AfterFunc(f.stopping, l.close)()
	var sending sync.WaitGroup
	sending.Go(func() { f.sendMessages(client, server); l.close() })
	l.sendPackets(ctx)
	l.close()
	sending.Wait()
}

// admit says to which organization the client of a connection belongs. from is the address from
// which the front dialed nats-server.
func (f *front) admit(from net.Addr, org string) {
	if l, ok := f.links.Load(from.(*net.TCPAddr).Port); ok {
		changes, _ := f.changes.LoadOrStore(org, rate.NewLimiter(changeRate, changeRate))
		select {
		case l.(*link).changes <- changes.(*rate.Limiter):
		default: // the client has logged in before
		}
	}
}

// end closes the connection that the front dialed from a port. nats-server would wait until its
// own write to a client that does not read times out, and keep the messages until then.
func (f *front) end(port int) {
	if l, ok := f.links.Load(port); ok {
		go l.(*link).close() // TLS may take some seconds
	}
}

// clientOf returns the address of the client for which the front dialed nats-server from an
// address. It returns that address if there is no such client now.
func (f *front) clientOf(from string) string {
	_, text, _ := net.SplitHostPort(from)
	port, _ := strconv.Atoi(text)
	if l, ok := f.links.Load(port); ok {
		from, _, _ = net.SplitHostPort(l.(*link).client.RemoteAddr().String())
	}
	return from
}

// handshake performs the TLS handshake with a client.
func (f *front) handshake(client *tls.Conn) error {
	ctx, cancel := context.WithTimeout(f.stopping, f.timeout())
	defer cancel()
	err := client.HandshakeContext(ctx)
	if err != nil && !errors.Is(err, io.EOF) && f.stopping.Err() == nil {
		host, _, _ := net.SplitHostPort(client.RemoteAddr().String())
		f.log.Warn("TLS handshake failed", "client", host, "error", err)
	}
	return err
}

// sendMessages sends the server's bytes to a client until the client reads too slowly.
func (f *front) sendMessages(client net.Conn, server io.Reader) {
	buffer := make([]byte, frontBuffer)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		_ = client.SetWriteDeadline(time.Now().Add(f.timeout()))
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// dial connects to nats-server's MQTT listener.
func (f *front) dial(ctx context.Context) (net.Conn, error) {
	port := f.server.Load()
	if port == 0 {
		return nil, errors.New("the MQTT server is not running: it may be restarting")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(int(port))))
	if err == nil {
		_ = conn.(*net.TCPConn).SetReadBuffer(kernelBuffer)
	}
	return conn, err
}
