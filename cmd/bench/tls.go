package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gridhook/gridhook/storage"
)

// TLS compares deliveries over TLS with a bare client of the same protocol, like
// Delivery. The receiver closes its idle connections before each measurement, so that
// handshakes are part of it. Both sides resume their sessions.
type TLS struct {
	// HTTP1 and HTTP2 use one endpoint; ManyHTTP1 and ManyHTTP2 use a thousand.
	HTTP1     One `json:"http1"`
	HTTP2     One `json:"http2"`
	ManyHTTP1 One `json:"manyHttp1"`
	ManyHTTP2 One `json:"manyHttp2"`
}

func measureTLS(ctx context.Context, o Options) (t *TLS, err error) {
	m, rounds, done, err := startDelivery(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := m.sink.trust(); err != nil {
		return nil, fmt.Errorf("the sink's certificate: %w", err)
	}
	t = &TLS{}
	var comparisons []comparison
	for _, v := range []struct {
		version   storage.HTTPVersion
		id, name  string
		one, many *One
	}{
		{storage.HTTPVersion1, "http1", "HTTP/1.1", &t.HTTP1, &t.ManyHTTP1},
		{storage.HTTPVersion2, "http2", "HTTP/2", &t.HTTP2, &t.ManyHTTP2},
	} {
		o.say("tls, %s: importing %d homes", v.name, 2*m.homes)
		one, err := m.toOne(ctx, v.id, v.version)
		if err != nil {
			return nil, err
		}
		many, err := m.toMany(ctx, v.id, v.version)
		if err != nil {
			return nil, err
		}
		comparisons = append(comparisons,
			comparison{"tls, " + v.name, one, v.one}, comparison{"tls, " + v.name + ", 1,000 endpoints", many, v.many})
	}
	return t, compareAll(ctx, o, rounds, comparisons)
}

// bestClient returns the bare client to compare with. Over HTTP/2 it chooses the number
// of connections to each destination that measures best.
func (m *deliveryMeter) bestClient(ctx context.Context, body []byte) (*bareClient, error) {
	if m.version != storage.HTTPVersion2 {
		return newBareClient(m.version, 1), nil
	}
	clients := []*bareClient{newBareClient(m.version, 1), newBareClient(m.version, 2), newBareClient(m.version, 4)}
	best := make([]float64, len(clients))
	for range 2 { // the first time is colder
		for i, c := range clients {
			perSecond, err := c.post(ctx, m.urls, body, m.homes/4)
			if err != nil {
				return nil, err
			}
			best[i] = max(best[i], perSecond)
		}
	}
	return clients[slices.Index(best, slices.Max(best))], nil
}

// handshakes formats a number of handshakes; 0 gives "".
func handshakes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d handshakes", n)
}
