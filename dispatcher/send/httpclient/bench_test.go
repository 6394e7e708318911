package httpclient

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The benchmark's receiver is another process: this test binary with receiverEnv set.
const receiverEnv = "HTTPCLIENT_BENCH_RECEIVER"

func TestMain(m *testing.M) {
	if n := os.Getenv(receiverEnv); n != "" {
		serveBenchmark(n)
		return
	}
	os.Exit(m.Run())
}

// certify issues a self-signed certificate for 127.0.0.1.
func certify() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "receiver"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveBenchmark serves n destinations of each kind until its input ends. It writes the
// certificate and the addresses to its output.
func serveBenchmark(n string) {
	var count int
	if _, err := fmt.Sscan(n, &count); err != nil {
		log.Fatal(err)
	}
	certificate := certify()
	_ = pem.Encode(os.Stdout, &pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	for _, kind := range []string{"http", "https", "h2"} {
		server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }), ErrorLog: log.New(io.Discard, "", 0)}
		protocols := new(http.Protocols)
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
		server.Protocols = protocols
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		for range count {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(kind, l.Addr())
			if kind == "http" {
				go func() { _ = server.Serve(l) }()
			} else {
				go func() { _ = server.ServeTLS(l, "", "") }()
			}
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// benchmarkReceiver is a running receiver.
type benchmarkReceiver struct {
	roots     *x509.CertPool
	addresses map[string][]string
}

func startReceiver(b *testing.B, n int) *benchmarkReceiver {
	command := exec.Command(os.Args[0], "-test.run=^$")
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", receiverEnv, n))
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = command.Wait() })
	r := &benchmarkReceiver{roots: x509.NewCertPool(), addresses: map[string][]string{}}
	var certificate strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		kind, address, ok := strings.Cut(lines.Text(), " ")
		switch {
		case lines.Text() == "ready":
			if !r.roots.AppendCertsFromPEM([]byte(certificate.String())) {
				b.Fatal("no certificate")
			}
			return r
		case ok && !strings.HasPrefix(kind, "-----"):
			r.addresses[kind] = append(r.addresses[kind], address)
		default:
			certificate.WriteString(lines.Text() + "\n")
		}
	}
	b.Fatal("the receiver did not start")
	return nil
}

// benchmarked sends one request to the nth destination.
type benchmarked func(ctx context.Context, n int) error

// ours returns this package's client. conns is the number of HTTP/2 connections.
func (r *benchmarkReceiver) ours(kind string, protocol Protocol, body []byte) (benchmarked, func()) {
	c := New(Options{
		Dial: (&net.Dialer{}).DialContext, TLS: &tls.Config{RootCAs: r.roots, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1024)},
		HandshakeTimeout: 10 * time.Second, MaxIdle: 64, IdleTimeout: time.Minute, MaxHeader: 16 << 10, MaxBody: 64 << 10, BodyTimeout: time.Second,
	})
	targets := make([]*Target, len(r.addresses[kind]))
	for i := range targets {
		targets[i] = c.Target(TargetOptions{URL: r.url(kind, i), Header: http.Header{"Content-Type": {"application/json"}, "User-Agent": {"x"}}, Protocol: protocol})
	}
	return func(ctx context.Context, n int) error {
		response, err := targets[n].Do(ctx, &Request{Body: body, Deadline: time.Now().Add(10 * time.Second), Headers: []Header{{"Webhook-Id", "msg_1"}, {"Webhook-Signature", "v1,x"}}}, &Timing{})
		if err == nil && response.Status != 200 {
			err = fmt.Errorf("status %d", response.Status)
		}
		return err
	}, c.Close
}

func (r *benchmarkReceiver) url(kind string, n int) *url.URL {
	scheme := "https"
	if kind == "http" {
		scheme = "http"
	}
	return &url.URL{Scheme: scheme, Host: r.addresses[kind][n], Path: "/hooks"}
}

// bare returns net/http's Transports, several for HTTP/2 with several connections.
func (r *benchmarkReceiver) bare(kind string, http2 bool, transports int, body []byte) (benchmarked, func()) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	list := make([]*http.Transport, transports)
	for i := range list {
		list[i] = &http.Transport{
			MaxIdleConnsPerHost: 64, MaxIdleConns: 0, IdleConnTimeout: time.Minute, DisableCompression: true, Protocols: protocols,
			TLSClientConfig: &tls.Config{RootCAs: r.roots, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1024)},
			HTTP2:           &http.HTTP2Config{StrictMaxConcurrentRequests: true},
		}
	}
	var next atomic.Int64
	send := func(ctx context.Context, n int) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url(kind, n).String(), strings.NewReader(string(body)))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Webhook-Id", "msg_1")
		request.Header.Set("Webhook-Signature", "v1,x")
		response, err := list[int(next.Add(1))%transports].RoundTrip(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return send, func() {
		for _, t := range list {
			t.CloseIdleConnections()
		}
	}
}

// run sends b.N requests, 64 at a time. Request i goes to the destination that a
// function names.
func run(b *testing.B, send benchmarked, destination func(i int) int) {
	before := cpu()
	var n atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		wg.Go(func() {
			for {
				i := int(n.Add(1)) - 1
				if i >= b.N {
					return
				}
				if err := send(b.Context(), destination(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
	b.ReportMetric(float64((cpu()-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/req")
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkClient_Send posts 8 KB bodies, 64 at a time, to receivers in another process:
// beside net/http's Transport with the same protocol and number of connections.
func BenchmarkClient_Send(b *testing.B) {
	body := make([]byte, 8<<10)
	for _, destinations := range []int{1, 1000} {
		r := startReceiver(b, destinations)
		bench := func(name string, send benchmarked, end func()) {
			b.Run(fmt.Sprintf("destinations=%d/%s", destinations, name), func(b *testing.B) {
				run(b, send, func(i int) int { return i % destinations })
			})
			if destinations > 1 { // 64 at a time to each, as a slice of 64 homes is sent
				b.Run(fmt.Sprintf("bursts=%d/%s", destinations, name), func(b *testing.B) {
					run(b, send, func(i int) int { return i / 64 % destinations })
				})
			}
			end()
		}
		both := func(name string, a func() (benchmarked, func()), z func() (benchmarked, func())) {
			send, end := a()
			bench(name+"/ours", send, end)
			send, end = z()
			bench(name+"/nethttp", send, end)
		}
		both("http", func() (benchmarked, func()) { return r.ours("http", Auto, body) }, func() (benchmarked, func()) { return r.bare("http", false, 1, body) })
		both("https", func() (benchmarked, func()) { return r.ours("https", HTTP1, body) }, func() (benchmarked, func()) { return r.bare("https", false, 1, body) })
		for _, conns := range []int{1, 2, 4, 8} {
			if destinations > 1 && conns == 8 {
				continue
			}
			defer func(before int) { maxHTTP2Conns = before }(maxHTTP2Conns)
			maxHTTP2Conns = conns
			both(fmt.Sprintf("h2/conns=%d", conns), func() (benchmarked, func()) { return r.ours("h2", HTTP2, body) }, func() (benchmarked, func()) { return r.bare("h2", true, conns, body) })
		}
	}
}
