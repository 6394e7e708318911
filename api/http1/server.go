package http1

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Server serves connections with the handler and within the limits of an http.Server,
// which serves all connections on which something else than plain requests comes.
//
// A handler sees a request as it does with net/http, and answers it so, but that
//
//   - it is used again for the next one: nothing that hangs on it, its context and its
//     body included, may be used once the handler has returned, and its Header, which may
//     be that of the request before, must not be changed;
//   - an answer is sent when the handler returns, so that it cannot be flushed, hijacked,
//     interim or have trailers;
//   - its Date and its Content-Length are the server's, and its Content-Type is the
//     handler's to say.
//
// Hooks of the http.Server (ConnState, ConnContext, BaseContext) and SetKeepAlivesEnabled
// concern connections that are handed over alone.
type Server struct {
	http *http.Server

	mu       sync.Mutex
	open     map[*connection]struct{}
	stopping atomic.Bool
	running  sync.WaitGroup // the connections that are open
}

// Over returns a Server that takes everything from an http.Server, which is not to be
// used besides.
func Over(s *http.Server) *Server { return &Server{http: s, open: map[*connection]struct{}{}} }

// Serve serves the connections of a listener, of which there may be one, and returns
// http.ErrServerClosed once Shutdown or Close was called.
func (s *Server) Serve(l net.Listener) error {
	rest := &handedOver{Listener: l, come: make(chan arrival), closed: make(chan struct{})}
	var accepting sync.WaitGroup
	defer accepting.Wait() // net/http closes the listener
	accepting.Go(func() { s.accept(rest) })
	return s.http.Serve(rest)
}

// accept begins with each connection that comes. What goes wrong is handed on: net/http
// knows what to wait for, and what to give up.
func (s *Server) accept(rest *handedOver) {
	for {
		conn, err := rest.Listener.Accept()
		if err != nil {
			if !rest.hand(arrival{err: err}) {
				return
			}
			continue
		}
		if c := newConnection(s, conn, rest); s.enter(c) {
			go c.serve()
		} else {
			_ = conn.Close()
		}
	}
}

func (s *Server) enter(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.open[c] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) leave(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	s.running.Done()
}

// stop lets no connection in any more, and closes those that are idle, or all.
func (s *Server) stop(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping.Store(true)
	for c := range s.open {
		c.stop(all)
	}
}

// Shutdown stops without interrupting requests: it returns once all are answered, or
// with ctx's error when that ends before.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop(false)
	err := s.http.Shutdown(ctx)
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops at once, whatever is being answered.
func (s *Server) Close() error {
	s.stop(true)
	return s.http.Close()
}

// arrival is what net/http's server accepts.
type arrival struct {
	conn net.Conn
	err  error
}

// handedOver is a listener as net/http sees it: of its connections, those that are
// handed over.
type handedOver struct {
	net.Listener
	come   chan arrival
	once   sync.Once
	closed chan struct{}
}

// hand hands something over, unless the listener is closed.
func (h *handedOver) hand(a arrival) bool {
	select {
	case h.come <- a:
		return true
	case <-h.closed:
		return false
	}
}

func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case a := <-h.come:
		return a.conn, a.err
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handedOver) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.Listener.Close()
}
