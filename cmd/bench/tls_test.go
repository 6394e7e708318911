package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// startTestSink serves a sink in this process.
func startTestSink(t *testing.T) (sinkAddress, *x509.CertPool) {
	in, end := io.Pipe()
	lines, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- ServeSink(in, out) }()
	t.Cleanup(func() {
		_ = end.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	var s sinkAddress
	if err := json.NewDecoder(bufio.NewReader(lines)).Decode(&s); err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return s, roots
}

func arrivals(t *testing.T, s sinkAddress) (a Arrivals) {
	response, err := http.Get(s.URL + "wait?n=0")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSink_Handshakes(t *testing.T) {
	s, roots := startTestSink(t)
	for version, major := range map[storage.HTTPVersion]int{storage.HTTPVersion1: 1, storage.HTTPVersion2: 2} {
		c := newBareClient(version, 1)
		transport := c.transports[0]
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		defer transport.CloseIdleConnections()
		for range 2 {
			response, err := http.Get(s.URL + "reset") // also closes open connections
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			transport.CloseIdleConnections()
			for _, host := range []int{0, 0, 999} {
				response, err := (&http.Client{Transport: transport}).Post(hostURL(s.SecureURL, host), "", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				if response.StatusCode != http.StatusOK || response.ProtoMajor != major {
					t.Fatalf("HTTP/%s: response %s over %s", version, response.Status, response.Proto)
				}
			}
			if a := arrivals(t, s); a.Requests != 3 || a.Handshakes != 2 {
				t.Errorf("HTTP/%s: %d requests and %d handshakes", version, a.Requests, a.Handshakes)
			}
		}
	}
}

func TestSink_Reset(t *testing.T) {
	s, roots := startTestSink(t)
	for _, protocol := range []string{"http/1.1", "h2"} {
		conn, err := tls.Dial("tcp", strings.Trim(strings.TrimPrefix(s.SecureURL, "https:"), "/"), &tls.Config{
			RootCAs: roots, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		response, err := http.Get(s.URL + "reset")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		var timeout net.Error
		if _, err := io.Copy(io.Discard, conn); errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("%s: the connection stays open", protocol)
		}
	}
}
