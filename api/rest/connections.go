package rest

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// ConnectionLimit limits the connections of a listener. A client address may have a quarter
// of them, a trusted proxy or this machine all. The listener closes a connection beyond the
// limit. It does not wait for another connection to end, as netutil.LimitListener does:
// clients with idle connections would then block all the others.
type ConnectionLimit struct {
	max     int64
	proxies Proxies
	log     *slog.Logger
	refused prometheus.Counter

	open   Shares // by client
	logged time.Time
}

// NewConnectionLimit returns the limit of a listener, Options.MaxConnections.
func NewConnectionLimit(d Deps, o Options) *ConnectionLimit {
	return &ConnectionLimit{
		max: int64(o.MaxConnections), proxies: o.Proxies, log: d.Log,
		refused: promauto.With(d.Registerer).NewCounter(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "connections_refused_total",
			Help: "Connections that were closed at once because of max-connections.",
		}),
	}
}

// Take counts a connection until release is called. ok is false beyond the limit. A nil limit
// has none.
func (l *ConnectionLimit) Take(from net.Addr) (release func(), ok bool) {
	if l == nil {
		return func() {}, true
	}
	client, most := from.String(), max(1, l.max/share)
	if addr, err := netip.ParseAddrPort(client); err == nil {
		ip := addr.Addr().Unmap()
		const site = 48 // bits of the largest network that providers assign to a customer
		client = network(ip, site)
		if l.proxies.trust(ip) || ip.IsLoopback() { // a proxy on this machine, or a test
			most = l.max
		}
	}
	release, err := l.open.Take(client, 1, func(total, own int64) error {
		if total >= l.max || own >= most {
			l.refuse(client, total, own)
			return errConnections
		}
		return nil
	})
	return release, err == nil
}

var errConnections = errors.New("max-connections reached")

// refuse counts a refused connection. It logs one a minute: an attacker must not fill the log.
func (l *ConnectionLimit) refuse(client string, total, own int64) {
	l.refused.Inc()
	if now := time.Now(); now.Sub(l.logged) >= time.Minute {
		l.logged = now
		l.log.Warn("connection refused, max-connections reached", "client", client, "connections", total, "client_connections", own)
	}
}
