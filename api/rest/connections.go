package rest

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
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

	mu     sync.Mutex
	open   shares // by client
	logged time.Time
}

// NewConnectionLimit returns the limit of a listener, Options.MaxConnections.
func NewConnectionLimit(d Deps, o Options) *ConnectionLimit {
	return &ConnectionLimit{
		max: int64(o.MaxConnections), proxies: o.Proxies, log: d.Log, open: shares{by: map[string]int64{}},
		refused: promauto.With(d.Registerer).NewCounter(prometheus.CounterOpts{
			Namespace: "gridhook", Name: "connections_refused_total",
			Help: "Connections that were closed at once because of max-connections.",
		}),
	}
}

// Take counts a connection until release is called. ok is false beyond the limit.
func (l *ConnectionLimit) Take(from net.Addr) (release func(), ok bool) {
	client, most := from.String(), max(1, l.max/share)
	if addr, err := netip.ParseAddrPort(client); err == nil {
		ip := addr.Addr().Unmap()
		const site = 48 // bits of the largest network that providers assign to a customer
		client = network(ip, site)
		if l.proxies.trust(ip) || ip.IsLoopback() { // a proxy on this machine, or a test
			most = l.max
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.total >= l.max || l.open.by[client] >= most {
		l.refuse(client)
		return nil, false
	}
	l.open.add(client, 1)
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open.add(client, -1)
	}), true
}

// refuse counts a refused connection. It logs one a minute: an attacker must not fill the log.
func (l *ConnectionLimit) refuse(client string) {
	l.refused.Inc()
	if now := time.Now(); now.Sub(l.logged) >= time.Minute {
		l.logged = now
		l.log.Warn("connection refused, max-connections reached", "client", client, "connections", l.open.total, "client_connections", l.open.by[client])
	}
}
