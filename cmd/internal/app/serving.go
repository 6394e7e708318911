package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/http1"
)

// serving serves a listener until it is shut down.
type serving interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
}

// overTLS serves by TLS.
type overTLS struct{ *http.Server }

func (s overTLS) Serve(l net.Listener) error { return s.ServeTLS(l, "", "") }

// servingOf serves by TLS where there is a certificate, and otherwise lean where
// operations are what is asked for most: they are what the lean server is for.
func (a *App) servingOf(handler http.Handler, pair KeyPair, operations bool) (s serving, err error) {
	server := api.NewHTTPServer(handler, a.Limits.Connections, a.Log)
	switch {
	case pair != (KeyPair{}):
		if server.TLSConfig, err = pair.config(a.Log); err != nil {
			return nil, err
		}
		// HTTP/1.1 alone: the limits on slow and greedy clients are of connections.
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
		return overTLS{server}, nil
	case operations:
		return http1.Over(server), nil
	}
	return server, nil
}

// serveWait bounds how long requests in flight may take when a listener stops.
const serveWait = 10 * time.Second

// serve serves a handler at an address until the app stops.
func (a *App) serve(ctx context.Context, name, address string, pair KeyPair, handler http.Handler, operations bool) (bound string, err error) {
	s, err := a.servingOf(handler, pair, operations)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	l, err := listener(ctx, address)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	a.running.Go(func() error {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	a.onStop(name, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), serveWait)
		defer cancel()
		return s.Shutdown(ctx)
	})
	return l.Addr().String(), nil
}
