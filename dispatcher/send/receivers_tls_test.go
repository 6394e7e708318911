package send

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http2"

	"github.com/gridhook/gridhook/dispatcher/policy"
)

// authority signs certificates for receivers. Senders can trust it.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority(t testing.TB) *authority {
	a := &authority{}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.certificate, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issue creates a certificate for a host or address that expires at a time.
func (a *authority) issue(t testing.TB, host string, until time.Time) tls.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
}

// trusted is a sender that trusts the authority.
func (a *authority) trusted(t *testing.T) *Sender {
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	s := New(Options{Dial: (&net.Dialer{}).DialContext, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, IdlePerDestination: 4})
	t.Cleanup(s.Close)
	return s
}

// shaking performs a handshake as configured, and continues with then if it succeeds.
func shaking(c *tls.Config, then func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		secured := tls.Server(conn, c)
		if secured.Handshake() == nil {
			then(secured)
		}
	}
}

// tlsReceivers have a fault in their TLS.
func tlsReceivers() map[string]receiver {
	withCertificate := func(host string, valid time.Duration, versions uint16, known bool) receiver {
		var a *authority
		return receiver{
			listen: func(t *testing.T) string {
				a = newAuthority(t)
				c := &tls.Config{Certificates: []tls.Certificate{a.issue(t, host, time.Now().Add(valid))}, MinVersion: tls.VersionTLS10, MaxVersion: versions} //nolint:gosec // the part to refuse
				return "https://" + sink(t, shaking(c, func(net.Conn) { t.Error("a request came through") }))
			},
			sender: func(t *testing.T) *Sender {
				if known {
					return a.trusted(t)
				}
				return newTestSender(t)
			},
			want: policy.Retry, unanswered: true, reason: "tls: ",
		}
	}
	script := func(script func(net.Conn), reason string) receiver {
		return receiver{
			listen: func(t *testing.T) string { return "https://" + sink(t, script) },
			want:   policy.Retry, unanswered: true, reason: reason,
		}
	}
	return map[string]receiver{
		"TLS expired cert":            withCertificate("127.0.0.1", -time.Hour, tls.VersionTLS13, true),
		"TLS wrong host":              withCertificate("other.example", time.Hour, tls.VersionTLS13, true),
		"TLS self-signed":             withCertificate("127.0.0.1", time.Hour, tls.VersionTLS13, false),
		"TLS 1.0/1.1 only":            withCertificate("127.0.0.1", time.Hour, tls.VersionTLS11, true),
		"TLS handshake hang":          script(hang, "within 300ms"),
		"TLS close after ClientHello": script(func(c net.Conn) { _, _ = io10(c) }, ""),
		"TLS reset after ClientHello": script(func(c net.Conn) { _, _ = io10(c); reset(c) }, ""),
		"plain HTTP on the TLS port":  script(func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); hang(c) }, ""),
	}
}

// http2Receivers have faults of HTTP/2.
func http2Receivers() map[string]receiver {
	misbehaving := func(reason string, misbehave func(f *http2.Framer, stream uint32) (goOn bool)) receiver {
		var a *authority
		return receiver{
			listen: func(t *testing.T) string {
				a = newAuthority(t)
				c := &tls.Config{
					Certificates: []tls.Certificate{a.issue(t, "127.0.0.1", time.Now().Add(time.Hour))},
					NextProtos:   []string{"h2"}, MinVersion: tls.VersionTLS12,
				}
				return "https://" + sink(t, shaking(c, speakHTTP2(misbehave)))
			},
			sender: func(t *testing.T) *Sender { return a.trusted(t) },
			want:   policy.Retry, unanswered: true, reason: reason,
		}
	}
	return map[string]receiver{
		"ALPN h2 GOAWAY": misbehaving("", func(f *http2.Framer, stream uint32) bool {
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			return false
		}),
		"h2 RST_STREAM REFUSED_STREAM": misbehaving("REFUSED_STREAM", func(f *http2.Framer, stream uint32) bool {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
		}),
		"h2 settings/ping flood": misbehaving("within 300ms", func(f *http2.Framer, _ uint32) bool {
			for i := 0; ; i++ {
				err := f.WritePing(false, [8]byte{byte(i)})
				if i%2 == 0 && err == nil {
					err = f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384})
				}
				if err != nil {
					return false
				}
			}
		}),
	}
}

// speakHTTP2 reads frames, and misbehaves at the end of each request.
func speakHTTP2(misbehave func(f *http2.Framer, stream uint32) (goOn bool)) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		if f.WriteSettings() != nil {
			return
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if frame.Header().Flags.Has(http2.FlagDataEndStream) && frame.Header().StreamID != 0 && !misbehave(f, frame.Header().StreamID) {
				return
			}
		}
	}
}

// namedReceivers have names that do not resolve, or resolve to forbidden addresses.
func namedReceivers() map[string]receiver {
	return map[string]receiver{
		"DNS NXDOMAIN": {
			listen: func(*testing.T) string { return "http://nobody.example" },
			sender: func(t *testing.T) *Sender { return resolving(t, Guard{AllowPrivate: true}) },
			want:   policy.Retry, unanswered: true, reason: "no such host",
		},
		"DNS rebinding": {
			listen: func(t *testing.T) string {
				address := sink(t, func(net.Conn) { t.Error("a connection was accepted") })
				_, port, _ := net.SplitHostPort(address)
				if err := (Guard{}).CheckURL("https://rebound.example:8443"); err != nil {
					t.Error(err) // when it is registered there is nothing wrong with it
				}
				return "https://rebound.example:" + port
			},
			sender: func(t *testing.T) *Sender {
				return resolving(t, Guard{}, netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.1"))
			},
			want: policy.Retry, unanswered: true, reason: "not allowed",
		},
	}
}

// resolving is a guarded sender whose names resolve to all of the addresses. Without
// addresses the names do not exist.
func resolving(t *testing.T, g Guard, addresses ...netip.Addr) *Sender {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go answerNames(server, addresses)
	dialer := &net.Dialer{Control: g.control, Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}}
	s := New(Options{Dial: dialer.DialContext, TLS: &tls.Config{MinVersion: tls.VersionTLS12}, IdlePerDestination: 1})
	t.Cleanup(s.Close)
	return s
}

// answerNames responds to every question for a name with the addresses.
func answerNames(server net.PacketConn, addresses []netip.Addr) {
	packet := make([]byte, 1500)
	for {
		n, from, err := server.ReadFrom(packet)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(packet[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		if len(addresses) == 0 {
			m.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range addresses {
			if q.Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: a.As4()},
				})
			}
		}
		if reply, err := m.Pack(); err == nil {
			_, _ = server.WriteTo(reply, from)
		}
	}
}

// fullBacklog is a listener that accepts nothing and whose queue is full: further
// connections wait without a response.
func fullBacklog(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = syscall.Listen(int(fd), 0) }) // if the queue cannot be shortened, there is no response either
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d := net.Dialer{Timeout: 100 * time.Millisecond}
		if c, err := d.DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	return "http://" + l.Addr().String()
}

// bomb is a gigabyte of zeros in a megabyte: a compressed megabyte, repeated.
func bomb() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	return strings.Repeat(b.String(), 1<<10)
}
