package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"time"
)

// newCertificate issues a sink's certificate for each of its hosts.
func newCertificate() (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	for host := range manyOrganizations * endpointsEach {
		template.IPAddresses = append(template.IPAddresses, hostAddress(host))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// trust makes this process accept the sink's certificate and no other. The product needs
// no setting for that: main.go tells crypto/x509 to use the fallback roots. Call trust at
// most once.
func (s *Sink) trust() error {
	certificate, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	x509.SetFallbackRoots(roots)
	return nil
}

// track counts TLS connections as they open and records the open ones.
func (c *counter) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.handshakes.Add(1)
		c.secured.Store(conn, nil)
	case http.StateClosed:
		c.secured.Delete(conn)
	}
}

// disconnect closes the TLS connections.
func (c *counter) disconnect() {
	c.secured.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close() // the other side may have closed it
		return true
	})
}
