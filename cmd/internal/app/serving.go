package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
)

// newServer returns the server of a setting's address. If there is a certificate, the server has
// a TLS configuration, and a metric shows when the certificate in use expires.
func (a *App) newServer(handler http.Handler, setting string, pair config.KeyPair) (server *http.Server, err error) {
	l := a.Limits
	server = rest.Prepare(&http.Server{
		Handler: handler, ReadHeaderTimeout: l.HeaderTimeout, ReadTimeout: l.ReadTimeout, WriteTimeout: l.WriteTimeout, IdleTimeout: l.IdleTimeout, MaxHeaderBytes: int(l.MaxHeaders),
	}, a.Log)
	if pair == (config.KeyPair{}) {
		return server, nil
	}
	// Only HTTP/1.1 is enabled: the limits on slow and greedy clients apply per
	// connection.
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	if server.TLSConfig, err = tlsConfig(pair, a.Log); err != nil {
		return nil, err
	}
	server.TLSConfig.NextProtos = []string{"http/1.1"}
	promauto.With(a.Registry).NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "gridhook", Name: "certificate_expiry_timestamp_seconds", ConstLabels: prometheus.Labels{"listener": setting},
		Help: "Time at which the certificate of a listener expires, in seconds since 1970.",
	}, func() float64 {
		loaded, _ := server.TLSConfig.GetCertificate(nil) // the loaded one, if the file cannot be read
		return float64(loaded.Leaf.NotAfter.Unix())
	})
	return server, nil
}

// shutdownTimeout is the timeout of requests in flight when a listener stops.
const shutdownTimeout = 10 * time.Second

// serve serves a handler at the address of a setting until the caller calls end. limit may be nil.
func (a *App) serve(ctx context.Context, name, setting, address string, pair config.KeyPair, limit *rest.ConnectionLimit, handler http.Handler) (bound string, end func() error, err error) {
	s, err := a.newServer(handler, setting, pair)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	l, err := listener(ctx, address)
	if err != nil {
		return "", nil, fmt.Errorf("%s, setting %s: %w", name, setting, err)
	}
	stopping, stop := context.WithCancel(context.Background())
	s.BaseContext = func(net.Listener) context.Context { return stopping }
	s.RegisterOnShutdown(stop) // ends the streams, which Shutdown would wait for
	l = rest.Listen(l, s.TLSConfig, limit, a.Log)
	a.running.Go(func() error {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	return l.Addr().String(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		return stopServer(ctx, s, a.Log)
	}, nil
}

// stopServer waits for the requests in flight until ctx ends. It then closes their
// connections: a slow client does not make a stop fail.
func stopServer(ctx context.Context, s *http.Server, log *slog.Logger) error {
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("requests did not end in time, closing their connections")
		err = s.Close()
	}
	return err
}
