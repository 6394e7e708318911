package send

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/storage"
)

var testSecret = webhook.SecretPrefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 24)))

// endpointAt returns a destination with a timeout for attempts.
func endpointAt(t testing.TB, raw string, timeout time.Duration) *Destination {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &Destination{
		TargetOptions: httpclient.TargetOptions{URL: u, Header: http.Header{"Content-Type": {"application/json"}, "X-Own": {"yes"}}},
		Timeout:       timeout, EndpointID: "ep",
	}
}

func newTestSender(t testing.TB) *Sender {
	s := New(Options{Guard: Guard{AllowPrivate: true}, IdlePerDestination: 4})
	t.Cleanup(s.Close)
	return s
}

const testBody = `{"type":"price_signal.updated"}`

func post(t testing.TB, s *Sender, d *Destination) Attempt {
	t.Helper()
	return postBody(t.Context(), t, s, d, []byte(testBody), 0)
}

// postBody sends a signed body, and stores part of a success's response.
func postBody(ctx context.Context, t testing.TB, s *Sender, d *Destination, body []byte, keep int) Attempt {
	t.Helper()
	signer, err := webhook.NewSigner(testSecret, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	p, now := webhook.NewPayload("msg_1", body, storage.CompressionNone), time.Now()
	timestamp, signature := webhook.Sign([]*webhook.Signer{signer}, &p, now)
	return s.Send(ctx, d, &Request{
		At: now, ID: p.ID, Body: p.Sent(), KeepResponse: keep,
		Headers: []Header{{Name: "Webhook-Id", Value: p.ID}, {Name: "Webhook-Timestamp", Value: timestamp}, {Name: "Webhook-Signature", Value: signature}},
	})
}

// sink is a server that handles each connection with script, and then closes it.
func sink(t testing.TB, script func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			wg.Go(func() {
				defer conn.Close()
				script(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// answering is a script that reads a request and writes a response.
func answering(text string) func(net.Conn) {
	return func(c net.Conn) {
		if readRequest(c) == nil {
			_, _ = io.WriteString(c, text)
		}
	}
}

func readRequest(c net.Conn) error {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return err
}

// reset closes a connection with a RST.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// hang waits until the other side has closed the connection.
func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// drip writes a text over and over, a byte at a time, until the other side closes.
func drip(text string) func(net.Conn) {
	return func(c net.Conn) {
		_ = readRequest(c)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			<-tick.C
			if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
		}
	}
}

// endlessly writes a head and then a text over and over.
func endlessly(head, text string) func(net.Conn) {
	return func(c net.Conn) {
		_ = readRequest(c)
		_, err := io.WriteString(c, head)
		for err == nil {
			_, err = io.WriteString(c, text)
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\n"

// The sender reads only a limited part of an endless body.
func TestSend_ResponseLimit(t *testing.T) {
	var taken atomic.Int64
	ended := make(chan struct{})
	address := sink(t, func(c net.Conn) {
		defer close(ended)
		_ = readRequest(c)
		_, err := io.WriteString(c, "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n")
		chunk := "1000\r\n" + strings.Repeat("x", 4096) + "\r\n"
		for err == nil {
			var n int
			n, err = io.WriteString(c, chunk)
			taken.Add(int64(n))
		}
	})
	a := post(t, newTestSender(t), endpointAt(t, "http://"+address, time.Minute))
	if a.Status != 500 || a.Response != strings.Repeat("x", 1024) {
		t.Errorf("response %d with %d bytes stored", a.Status, len(a.Response))
	}
	<-ended // our side has closed
	if n := taken.Load(); n > 16<<20 {
		t.Errorf("%d bytes were sent, most of them in the kernels' buffers", n)
	}
}

func TestSend_ResponseText(t *testing.T) {
	body := "no \x1b[31m\r\n\x00 \xff\xfe ü " + strings.Repeat("é", KeptResponse)
	address := sink(t, answering(fmt.Sprintf("HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n%s", len(body), body)))
	a := post(t, newTestSender(t), endpointAt(t, "http://"+address, time.Minute))
	if !utf8.ValidString(a.Response) || !strings.HasPrefix(a.Response, "no \x1b[31m\r\n\x00 \uFFFD ü é") || len(a.Response) > KeptResponse+10 {
		t.Errorf("the stored part is %q", a.Response)
	}
	if success := post(t, newTestSender(t), endpointAt(t, "http://"+sink(t, answering(ok+"Content-Length: 2\r\n\r\nok")), time.Minute)); success.Response != "" {
		t.Errorf("the stored part of a success is %q", success.Response)
	}
}

func TestSend_Request(t *testing.T) {
	requests := make(chan *http.Request, 9)
	bodies := make(chan string, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		requests <- r
		bodies <- string(b)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "x"})
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	s, e := newTestSender(t), endpointAt(t, server.URL+"/hooks?x=y%20z", time.Minute)
	for range 2 { // the second after cookies and a challenge
		if a := post(t, s, e); a.Status != http.StatusUnauthorized {
			t.Fatalf("response %+v", a)
		}
		r, body := <-requests, <-bodies
		if r.Method != http.MethodPost || r.RequestURI != "/hooks?x=y%20z" || body != testBody || r.ContentLength != int64(len(testBody)) {
			t.Errorf("request is %s %s with %q", r.Method, r.RequestURI, body)
		}
		hook, err := standardwebhooks.NewWebhook(testSecret)
		if err != nil {
			t.Fatal(err)
		}
		if err := hook.Verify([]byte(body), r.Header); err != nil {
			t.Errorf("signature does not verify: %v", err)
		}
		for name, want := range map[string]string{
			"Webhook-Id": "msg_1", "Content-Type": "application/json", "X-Own": "yes",
			"Cookie": "", "Authorization": "", "Accept-Encoding": "", "Transfer-Encoding": "", "Referer": "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("the header %s is %q, want %q", name, got, want)
			}
		}
	}
}

func TestSend_Redirects(t *testing.T) {
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	s := newTestSender(t)
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		for _, location := range []string{elsewhere.URL, "//" + strings.TrimPrefix(elsewhere.URL, "http://") + "/", "gopher://127.0.0.1:6379/_INFO", "file:///etc/passwd"} {
			address := sink(t, answering(fmt.Sprintf("HTTP/1.1 %d Away\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, location)))
			if a := post(t, s, endpointAt(t, "http://"+address, time.Minute)); a.Status != status || a.Verdict() != policy.Retry ||
				!strings.HasSuffix(a.Reason(), ", and redirects are not followed") {
				t.Errorf("%d to %s: %+v, %s", status, location, a, a.Reason())
			}
		}
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestSend_RetryAfter(t *testing.T) {
	s := newTestSender(t)
	for answer, want := range map[string]time.Duration{
		"429 Slow\r\nRetry-After: 7\r\n":                    7 * time.Second,
		"503 Slow\r\nRetry-After: 999999999\r\n":            time.Hour,
		"503 Slow\r\nRetry-After: 3\r\nRetry-After: 5\r\n":  3 * time.Second,
		"429 Slow\r\nRetry-After: soon\r\n":                 0,
		"429 Slow\r\n":                                      0,
		"500 No\r\nRetry-After: 7\r\n":                      0,
		"302 Away\r\nRetry-After: 7\r\nLocation: http://x/": 0,
	} {
		a := post(t, s, endpointAt(t, "http://"+sink(t, answering("HTTP/1.1 "+strings.TrimSuffix(answer, "\r\n")+"\r\nContent-Length: 0\r\n\r\n")), time.Minute))
		if a.Err != nil || a.RetryAfter != want {
			t.Errorf("%q: %+v, want a delay of %s", answer, a, want)
		}
	}
}

func TestSend_WorkerStop(t *testing.T) {
	asked := make(chan struct{})
	address := sink(t, func(c net.Conn) { _ = readRequest(c); close(asked); hang(c) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	a := postBody(ctx, t, newTestSender(t), endpointAt(t, "http://"+address, time.Minute), []byte(testBody), 0)
	if a.Err == nil || !strings.Contains(a.Err.Error(), "stopping") || a.Verdict() != policy.Retry {
		t.Errorf("got %+v", a)
	}
}

// The guard checks every connection, for any address of a name.
func TestSend_GuardBeforeConnect(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	s := New(Options{IdlePerDestination: 1})
	defer s.Close()
	for _, host := range []string{"localhost:8443", "127.0.0.1:8443", "[::1]:443", "169.254.169.254", "[::ffff:10.0.0.1]:8443"} {
		for _, multiplexed := range []bool{false, true} {
			e := endpointAt(t, "https://"+host, time.Minute)
			if multiplexed {
				e.Protocol = httpclient.HTTP2
			}
			if a := post(t, s, e); a.Err == nil || !strings.Contains(a.Err.Error(), "not allowed") {
				t.Errorf("%s: %+v", host, a)
			}
		}
	}
}
