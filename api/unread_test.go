package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// narrow is a listener whose connections have the smallest buffers, so that what a client
// does not read stays with the server.
type narrow struct{ net.Listener }

func (l narrow) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(1)
	}
	return conn, err
}

// An organization whose clients do not read their responses gets no further responses.
// Others do, and the stalled clients are disconnected.
func TestUnread_SlowReaders(t *testing.T) {
	const window = `{"startTime":"2026-07-01T00:00:00Z","endTime":"2026-07-29T00:00:00Z"}` // a response of half a MiB
	e := newEnv(t, rest.Options{})
	slow, other := e.twoTenants()
	e.load(`{"resource":"home","organizationId":"bolt","id":"home2","ratePlanId":"plan1","timezone":"America/Los_Angeles"}`)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	deps := e.deps
	deps.Registerer = nil
	server := bare(publicAPI(deps, rest.Options{MaxUnread: 1 << 20}))
	go func() { _ = server.Serve(narrow{l}) }()
	t.Cleanup(func() { _ = server.Close() })
	url := "http://" + l.Addr().String()
	ask := func(key, home string) answer {
		return e.send(request{url: url + "/v1/homes/" + home + "/price_signal", body: window, header: http.Header{rest.KeyHeader: {key}, "Content-Type": {"application/json"}}})
	}
	ask(slow, "home1").ok(t)

	var conn net.Conn
	for begun := ""; begun != "HTTP/1.1 200"; { // the server may still count the first response
		conn, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		must(t, err)
		defer conn.Close()
		must(t, conn.(*net.TCPConn).SetReadBuffer(1))
		_, err = fmt.Fprintf(conn, "POST /v1/homes/home1/price_signal HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", rest.KeyHeader, slow, len(window), window)
		must(t, err)
		head := make([]byte, len("HTTP/1.1 200"))
		_, err = io.ReadFull(conn, head) // the rest of the response is not read
		must(t, err)
		begun = string(head)
	}

	refused := ask(slow, "home1").expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	if !strings.Contains(string(refused.body), "max-unread") {
		t.Errorf("refused with %s, want the limit's name", refused.body)
	}
	ask(other, "home2").ok(t)
	must(t, conn.SetReadDeadline(time.Now().Add(2*time.Minute)))
	for deadline := time.Now().Add(time.Minute); ask(slow, "home1").status != http.StatusOK; {
		if time.Now().After(deadline) {
			t.Fatal("the stalled client keeps its share")
		}
		<-time.After(100 * time.Millisecond)
	}
	if n, err := io.Copy(io.Discard, conn); n > 300<<10 {
		t.Errorf("the stalled client read %d bytes more, %v", n, err)
	}
}
