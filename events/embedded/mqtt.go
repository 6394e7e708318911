package embedded

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// MQTT configures a listener for MQTT 3.1.1 clients. They may only subscribe.
type MQTT struct {
	// Listen is the host:port to listen on.
	Listen string
	// TLS is the listener's TLS configuration, nil for none.
	TLS *tls.Config
	// Admit authenticates a client.
	Admit func(user, password string) (a Admission, ok bool)
	// Live reports whether an admitted client may stay connected. If Live is nil, every client
	// may.
	Live func(user string) bool
	// Take counts a connection from an address until release is called. If ok is false, the
	// listener closes the connection. If Take is nil, every connection is ok.
	Take func(from net.Addr) (release func(), ok bool)
	// MaxClients is the maximum number of an organization's connected clients, and of their
	// subscriptions with QoS 1. With 0 it is a quarter of nats-server's connections.
	MaxClients int
	// Timeout limits the time in which a client sends a packet that it has begun, and reads a
	// part of a message. With 0 it is 10 seconds.
	Timeout time.Duration
}

// maxClients is MaxClients or its default.
func (m *MQTT) maxClients() int { return cmp.Or(m.MaxClients, server.DEFAULT_MAX_CONNECTIONS/4) }

// timeout is Timeout or its default.
func (m *MQTT) timeout() time.Duration { return cmp.Or(m.Timeout, 10*time.Second) }

// Admission says what an MQTT client may do.
type Admission struct {
	Organization string
	// Prefixes are the prefixes of the topics that the client may subscribe to.
	Prefixes []string
	// Until is the time when the server ends the connection.
	Until time.Time
}

// processUser is the user of this process's own connections, by NATS and by MQTT. A slash and
// an organization follow it to connect to that organization's account.
const processUser = "gridhook"

// loopback is the address of nats-server's own MQTT listener, to which the front forwards.
const loopback = "127.0.0.1"

// maxSubscriptions is the maximum number of NATS subscriptions of a client. Each takes 1.3 KB
// of memory. An MQTT subscription has one, with a wildcard two, and with QoS 1 up to eight.
const maxSubscriptions = 512

// forgetAfter is how long the server keeps the session and the messages of an MQTT client
// that is away. It bounds the messages that wait for a client that never comes back.
const forgetAfter = 24 * time.Hour

// configure adds nats-server's own MQTT listener to its options.
func (m *MQTT) configure(o *server.Options, accounts *accounts) {
	o.MQTT.Host, o.MQTT.Port, o.MQTT.ConsumerInactiveThreshold = loopback, server.RANDOM_PORT, forgetAfter
	o.MaxConn = server.DEFAULT_MAX_CONNECTIONS                             // MaxSubs would limit this process's own connection, too
	o.JetStreamLimits.DefaultMaxConsumers = server.DEFAULT_MAX_CONNECTIONS // a subscription with QoS 1 has a consumer of its own
	o.CustomClientAuthentication = gatekeeper{m, accounts}
}

// listen opens the port for clients. The front serves them once accept runs.
func (m *MQTT) listen(log *slog.Logger) (*front, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", m.Listen)
	if err != nil {
		return nil, fmt.Errorf("the MQTT listener: %w", err)
	}
	f := &front{MQTT: m, log: log, listener: l}
	f.stopping, f.stop = context.WithCancel(context.Background())
	return f, nil
}

// gatekeeper authenticates every client of the server.
type gatekeeper struct {
	*MQTT
	accounts *accounts
}

// Check implements server.Authentication.
func (g gatekeeper) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if user, org, own := strings.Cut(o.Username, "/"); user == processUser {
		if subtle.ConstantTimeCompare([]byte(o.Password), []byte(g.accounts.password)) != 1 {
			return false
		}
		return !own || g.accounts.join(c, org)
	}
	a, ok := g.Admit(o.Username, o.Password)
	if !ok {
		return false
	}
	allowed := server.SubjectPermission{}
	for _, prefix := range a.Prefixes {
		subject := strings.ReplaceAll(strings.TrimSuffix(prefix, "/"), "/", ".")
		allowed.Allow = append(allowed.Allow, subject, subject+".>") // PREFIX/# subscribes to both
	}
	account, err := g.accounts.open(a.Organization)
	if err != nil {
		g.accounts.log.Error("MQTT client refused", "org", a.Organization, "error", err)
		return false
	}
	if limit := g.maxClients(); account.NumLocalConnections() >= limit {
		g.accounts.log.Warn("MQTT client refused, its organization has too many", "org", a.Organization, "limit", limit)
		return false
	}
	g.accounts.front.admit(c.RemoteAddress(), a.Organization)
	c.RegisterUser(&server.User{
		Username: o.Username, Account: account, ConnectionDeadline: a.Until,
		Permissions: &server.Permissions{Subscribe: &allowed, Publish: &server.SubjectPermission{Deny: []string{">"}}},
	})
	return true
}

// Credentials returns the user and the password of this process for an organization's account.
// Without an organization, it is the account of Gridhook's streams.
func (s *Server) Credentials(org string) (user, password string) {
	return s.organizations().credentials(org)
}

// MQTTPort returns the port of the MQTT listener.
func (s *Server) MQTTPort() int { return s.front.listener.Addr().(*net.TCPAddr).Port }

// MakeMQTTRoom deletes the oldest MQTT messages of an organization that takes its share of the
// store. It reports whether there is room for another message then. If the organization's
// clients have too much to read, MakeMQTTRoom disconnects some of them.
func (s *Server) MakeMQTTRoom(org string) (room bool, err error) {
	return s.organizations().makeRoom(org)
}

// DialMQTT connects this process to nats-server's own MQTT listener, for the account of an
// organization.
func (s *Server) DialMQTT(ctx context.Context, org string) (net.Conn, error) {
	if _, err := s.organizations().open(org); err != nil {
		return nil, err
	}
	return s.front.dial(ctx)
}
