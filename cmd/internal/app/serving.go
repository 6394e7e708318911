package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
)

// serving is a server that serves a listener until its shutdown.
type serving interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
}

// overTLS serves over TLS.
type overTLS struct{ *http.Server }

func (s overTLS) Serve(l net.Listener) error { return s.ServeTLS(l, "", "") }

// servingOf returns a server. It serves over TLS if there is a certificate.
func (a *App) servingOf(handler http.Handler, pair config.KeyPair) (s serving, err error) {
	l := a.Limits
	server := rest.NewHTTPServer(handler, rest.Connections{
		HeaderTimeout: l.HeaderTimeout, ReadTimeout: l.ReadTimeout, WriteTimeout: l.WriteTimeout, IdleTimeout: l.IdleTimeout, MaxHeaders: int(l.MaxHeaders),
	}, a.Log)
	if pair == (config.KeyPair{}) {
		return server, nil
	}
	if server.TLSConfig, err = tlsConfig(pair, a.Log); err != nil {
		return nil, err
	}
	// Only HTTP/1.1 is enabled: the limits on slow and greedy clients apply per
	// connection.
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	return overTLS{server}, nil
}

// serveWait is the timeout of requests in flight when a listener stops.
const serveWait = 10 * time.Second

// serve serves a handler at an address until the app stops.
func (a *App) serve(ctx context.Context, name, address string, pair config.KeyPair, handler http.Handler) (bound string, err error) {
	s, err := a.servingOf(handler, pair)
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
