package embedded

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
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
	// Admit authenticates a client. It returns the prefixes of the topics that the client
	// may subscribe to, and when the server ends the connection.
	Admit func(user, password string) (prefixes []string, until time.Time, ok bool)
}

// processUser is the user of this process's own connections, by NATS and by MQTT.
const processUser = "gridhook"

// forgetAfter is how long the server keeps messages for an MQTT client that is away. It
// bounds the messages that wait for a client that never comes back.
const forgetAfter = 24 * time.Hour

// configure adds the listener to the server's options.
func (m *MQTT) configure(o *server.Options, password string) (err error) {
	if o.MQTT.Host, o.MQTT.Port, err = listenOn(m.Listen); err != nil {
		return fmt.Errorf("the MQTT listener: %w", err)
	}
	o.MQTT.TLSConfig, o.MQTT.ConsumerInactiveThreshold = m.TLS, forgetAfter
	o.MaxConn = server.DEFAULT_MAX_CONNECTIONS
	o.JetStreamLimits.DefaultMaxConsumers = server.DEFAULT_MAX_CONNECTIONS // a subscription with QoS 1 has a consumer of its own
	o.CustomClientAuthentication = gatekeeper{m, password}
	return nil
}

// gatekeeper authenticates every client of the server.
type gatekeeper struct {
	*MQTT
	password string
}

// Check implements server.Authentication.
func (g gatekeeper) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if o.Username == processUser {
		return subtle.ConstantTimeCompare([]byte(o.Password), []byte(g.password)) == 1
	}
	prefixes, until, ok := g.Admit(o.Username, o.Password)
	if !ok {
		return false
	}
	allowed := server.SubjectPermission{}
	for _, prefix := range prefixes {
		subject := strings.ReplaceAll(strings.TrimSuffix(prefix, "/"), "/", ".")
		allowed.Allow = append(allowed.Allow, subject, subject+".>") // PREFIX/# subscribes to both
	}
	c.RegisterUser(&server.User{
		Username: o.Username, ConnectionDeadline: until,
		Permissions: &server.Permissions{Subscribe: &allowed, Publish: &server.SubjectPermission{Deny: []string{">"}}},
	})
	return true
}

// Credentials returns the user and the password of this process's own connections.
func (s *Server) Credentials() (user, password string) { return processUser, s.password }

// MQTTPort returns the port of the MQTT listener.
func (s *Server) MQTTPort() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mqttPort
}

// DialMQTT connects to the server's own MQTT listener.
func (s *Server) DialMQTT(ctx context.Context) (net.Conn, error) {
	host, _, err := net.SplitHostPort(s.options.MQTT.Listen)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	address := net.JoinHostPort(host, strconv.Itoa(s.MQTTPort()))
	if s.options.MQTT.TLS == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	own := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // the process dials its own listener, whose certificate may name another host
	return (&tls.Dialer{Config: own}).DialContext(ctx, "tcp", address)
}
