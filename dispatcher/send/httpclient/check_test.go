package httpclient

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// pair is a connection and its other side.
func pair(t testing.TB) (ours, theirs net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err = net.Dial("tcp", l.Addr().String())
	if err == nil {
		theirs, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return ours, theirs
}

// securePair is a pair after a TLS handshake.
func securePair(t testing.TB) (ours *tls.Conn, theirs *tls.Conn) {
	a, b := pair(t)
	return secured(t, a, b)
}

// secured makes a TLS connection over a connection and its other side.
func secured(t testing.TB, a, b net.Conn) (ours *tls.Conn, theirs *tls.Conn) {
	certificate := certify()
	theirs = tls.Server(b, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	done := make(chan error, 1)
	go func() { done <- theirs.Handshake() }()
	roots := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(parsed)
	ours = tls.Client(newCheckedConn(a), &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13})
	if err := errors.Join(ours.Handshake(), <-done); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// A check without a finding costs little, and the connection stays usable.
func TestCheck_QuietConnection(t *testing.T) {
	plain, plainEnd := pair(t)
	secure, secureEnd := securePair(t)
	piped, pipedEnd := net.Pipe() // has no nonblocking reads
	for name, ends := range map[string][2]net.Conn{"plain": {newCheckedConn(plain), plainEnd}, "TLS": {secure, secureEnd}, "pipe": {newCheckedConn(piped), pipedEnd}} {
		c := newHTTP1Conn(ends[0], 1024)
		unbind := c.bind(t.Context(), time.Now().Add(time.Minute))
		for range 3 {
			if err := c.check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		go func() { _, _ = io.WriteString(ends[1], fine) }()
		if response, err := http.ReadResponse(c.reader, post); err != nil || response.StatusCode != 200 {
			t.Errorf("%s: read after the check returns %v, %v", name, response, err)
		}
		unbind()
	}
}

// The check takes less than a microsecond more than a system call.
func BenchmarkCheck_Idle(b *testing.B) {
	plain, _ := pair(b)
	secure, _ := securePair(b)
	for name, conn := range map[string]net.Conn{"plain": newCheckedConn(plain), "TLS": secure} {
		c := newHTTP1Conn(conn, 1024)
		unbind := c.bind(b.Context(), time.Now().Add(time.Hour))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.check(); err != nil {
					b.Fatal(err)
				}
			}
		})
		unbind()
	}
}

// Requests that exceed the system's buffers are sent completely.
func TestPost_LargeRequest(t *testing.T) {
	ours, theirs := pair(t)
	c := newHTTP1Conn(newCheckedConn(ours), 1024)
	defer c.bind(t.Context(), time.Now().Add(time.Minute))()
	read := make(chan int64, 1)
	go func() {
		r, err := http.ReadRequest(bufio.NewReader(theirs))
		if err != nil {
			read <- -1
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(theirs, fine)
		read <- n
	}()
	c.assemble([]byte("POST / HTTP/1.1\r\nHost: x\r\n"), &Request{Body: make([]byte, 16<<20)})
	if written, err := c.send(); err != nil || !written {
		t.Errorf("written %t, %v", written, err)
	}
	if kept := cap(c.request); kept > maxKeptBuffer {
		t.Errorf("the connection keeps %d bytes for its next request", kept)
	}
	if n := <-read; n != 16<<20 {
		t.Errorf("receiver got %d bytes", n)
	}
}
