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
// of them, a trusted proxy or this machine all. The listener closes a connection beyond the limit. It does
// not wait for another connection to end, as netutil.LimitListener does: clients with idle
// connections would then block all the others.
type ConnectionLimit struct {
	max     int
	proxies Proxies
	log     *slog.Logger
	refused prometheus.Counter

	mu       sync.Mutex
	total    int
	byClient map[string]int
	logged   time.Time
}

// NewConnectionLimit returns the limit of a listener, Options.MaxConnections.
func NewConnectionLimit(d Deps, o Options) *ConnectionLimit {
	return &ConnectionLimit{
		max: o.MaxConnections, proxies: o.Proxies, log: d.Log, byClient: map[string]int{},
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
	if l.total >= l.max || l.byClient[client] >= most {
		l.refuse(client)
		return nil, false
	}
	l.add(client, 1)
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.add(client, -1)
	}), true
}

func (l *ConnectionLimit) add(client string, n int) {
	l.total += n
	if l.byClient[client] += n; l.byClient[client] == 0 {
		delete(l.byClient, client)
	}
}

// refuse counts a refused connection. It logs one a minute: an attacker must not fill the log.
func (l *ConnectionLimit) refuse(client string) {
	l.refused.Inc()
	if now := time.Now(); now.Sub(l.logged) >= time.Minute {
		l.logged = now
		l.log.Warn("connection refused, max-connections reached", "client", client, "connections", l.total, "client_connections", l.byClient[client])
	}
}
