package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// fault is one way in which an endpoint fails.
type fault struct {
	name string
	// url returns the fault's URL from the sink's URL.
	url func(sink string) string
	// serve plays the fault at /NAME of a sink. It is nil if nothing listens at the URL.
	serve http.HandlerFunc
}

func at(name string) func(string) string {
	return func(sink string) string { return sink + name }
}

// faults are ten ways in which an endpoint fails.
var faults = []fault{
	{"hang", at("hang"), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	{"reset", at("reset"), reset},
	{"error", at("error"), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }},
	{"slow-headers", at("slow-headers"), slowHeaders},
	{"endless-body", at("endless-body"), func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		for chunk := make([]byte, 32<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}},
	{"no-tls", func(sink string) string { return strings.Replace(sink, "http://", "https://", 1) + "no-tls" }, nil},
	{"redirect", at("redirect"), func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/redirect", http.StatusTemporaryRedirect)
	}},
	{"too-many", at("too-many"), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	}},
	{"no-name", func(string) string { return "http://nobody.invalid/no-name" }, nil},
	{"gone", at("gone"), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }},
}

// reset closes the connection without a response.
func reset(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// slowHeaders writes a header line now and then until the client disconnects.
func slowHeaders(w http.ResponseWriter, r *http.Request) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close() //nolint:errcheck // it is the client's to close
	_, _ = io.WriteString(out, "HTTP/1.1 200 OK\r\n")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(out, "X-%d: slow\r\n", i); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
