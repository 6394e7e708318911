package http1

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// BenchmarkServe compares what a request takes and leaves with net/http alone.
func BenchmarkServe(b *testing.B) {
	answer := make([]byte, 500)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header()["Content-Type"] = []string{"application/json"}
		_, _ = w.Write(answer)
	})
	b.Run("lean", func(b *testing.B) { ask(b, serve(b, handler).dial(b), 1) })
	b.Run("lean, another head each time", func(b *testing.B) { ask(b, serve(b, handler).dial(b), 2) })
	b.Run("net/http", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		s := &http.Server{Handler: handler}
		go func() { _ = s.Serve(l) }()
		b.Cleanup(func() { _ = s.Close() })
		ask(b, (&served{address: l.Addr().String()}).dial(b), 1)
	})
}

// ask makes one request after another, of so many different heads, and leaves nothing
// itself.
func ask(b *testing.B, a *asker, heads int) {
	b.ReportAllocs()
	answer := make([]byte, 4096)
	var requests [][]byte
	for i := range heads {
		requests = append(requests, []byte(post("/v1/devices/hvac/dev_1/get", "{}", fmt.Sprintf("X-Request-Id: %d", i))))
	}
	for i := 0; b.Loop(); i++ {
		if _, err := a.Write(requests[i%heads]); err != nil {
			b.Fatal(err)
		}
		if _, err := a.Read(answer); err != nil {
			b.Fatal(err)
		}
	}
}
