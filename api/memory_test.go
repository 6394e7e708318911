package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage/signals"
)

// month is a window of 31 days, n intervals of 15 minutes earlier than June 2026. Its
// response has more than half a megabyte.
func month(n int) string {
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(-n) * 15 * time.Minute)
	return fmt.Sprintf(`{"startTime":%q,"endTime":%q}`, start.Format(time.RFC3339), start.AddDate(0, 0, 31).Format(time.RFC3339))
}

// liveHeap returns the size of the heap after a collection in MB.
func liveHeap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// grown checks that a test case added less than a number of MB to the live heap.
func grown(t *testing.T, before, most float64) {
	t.Helper()
	after := liveHeap()
	t.Logf("live heap %.0f MB before, %.0f MB then", before, after)
	if after-before > most {
		t.Errorf("the live heap has grown by %.0f MB, want at most %.0f", after-before, most)
	}
}

// memoryServer serves one home with the default limits on memory, and returns a key.
func memoryServer(t *testing.T, wrap func(net.Listener) net.Listener) (e *env, address, key string) {
	e = startEnv(t, rest.Options{})
	key, _ = e.twoTenants()
	deps := e.deps
	deps.Registerer, deps.Pricer = nil, signals.NewPricer(1024)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := bare(publicAPI(deps, rest.Options{Rate: 1e6, Burst: 1e6}))
	go func() { _ = server.Serve(rest.Listen(wrap(l), nil, nil, deps.Log)) }()
	t.Cleanup(func() { _ = server.Close() })
	return e, l.Addr().String(), key
}

// TestMemory_LongWindows checks that the curves of one key's 31-day windows take the memory
// of the cache, whatever their number.
func TestMemory_LongWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("the measurement of memory: run it without -short")
	}
	const windows = 400
	e, address, key := memoryServer(t, func(l net.Listener) net.Listener { return l })
	ask := func(n int) {
		e.send(request{
			url: "http://" + address + "/v1/homes/home1/price_signal", body: month(n),
			header: http.Header{rest.KeyHeader: {key}, "Content-Type": {"application/json"}},
		}).expect(t, http.StatusOK, "")
	}
	ask(0)
	before := liveHeap()
	for n := range windows {
		ask(n + 1)
	}
	grown(t, before, 60)
}

// TestMemory_SlowReaders checks that responses of half a megabyte that one organization's
// clients do not read take its share of max-unread, whatever their number.
func TestMemory_SlowReaders(t *testing.T) {
	const clients = 200
	_, address, key := memoryServer(t, func(l net.Listener) net.Listener { return narrow{l} })
	before, held := liveHeap(), 0
	for range clients {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		must(t, conn.(*net.TCPConn).SetReadBuffer(1))
		_, err = fmt.Fprintf(conn, "POST /v1/homes/home1/price_signal HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", rest.KeyHeader, key, len(month(0)), month(0))
		must(t, err)
		status := make([]byte, len("HTTP/1.1 200"))
		_, err = io.ReadFull(conn, status) // its response has begun, and the rest is not read
		must(t, err)
		if strings.HasSuffix(string(status), "200") {
			held++
		}
	}
	t.Logf("%d of %d responses wait for their readers, the others were refused", held, clients)
	if held == 0 || held == clients {
		t.Error("want a share of the responses to wait")
	}
	grown(t, before, 40)
}

// TestMemory_SlowSenders checks that bodies of one MiB that one organization's clients send
// slowly take its share of max-unread, whatever their number.
func TestMemory_SlowSenders(t *testing.T) {
	const clients, size, accepted = 200, 1 << 20, 16
	_, address, key := memoryServer(t, func(l net.Listener) net.Listener { return l })
	before := liveHeap()
	ended := make(chan struct{}, clients)
	for range clients {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		must(t, conn.SetDeadline(time.Now().Add(10*time.Second))) // before read-timeout
		_, err = fmt.Fprintf(conn, "POST /v1/homes/home1/price_signal HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", rest.KeyHeader, key, size)
		must(t, err)
		_, _ = io.WriteString(conn, "{}"+strings.Repeat(" ", size-3)) // without the last byte; a refused one ends earlier
		go func() {
			_, _ = conn.Read(make([]byte, 1)) // the response of a refused one, or a reset while it sends
			ended <- struct{}{}
		}()
	}
	for range clients - accepted {
		<-ended
	}
	grown(t, before, 40)
}
