package rest

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestConnectionLimit_Clients(t *testing.T) {
	for name, test := range map[string]struct {
		from   []string
		served int
	}{
		"one client":                {[]string{"192.0.2.1", "192.0.2.1", "192.0.2.1"}, 2},
		"clients":                   {[]string{"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"}, 4},
		"one /48":                   {[]string{"2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"}, 2},
		"two /48":                   {[]string{"2001:db8::1", "2001:db8::2", "2001:db8:1::1"}, 3},
		"a trusted proxy":           {[]string{"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1"}, 4},
		"this machine":              {[]string{"127.0.0.1", "127.0.0.1", "127.0.0.1", "::1", "::1"}, 5},
		"all":                       {[]string{"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "192.0.2.1"}, 8},
		"another beside a full one": {[]string{"192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			registry := prometheus.NewRegistry()
			l := NewConnectionLimit(
				Deps{Log: slog.New(slog.NewTextHandler(&log, nil)), Registerer: registry},
				Options{MaxConnections: 8, Proxies: Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}},
			)
			var releases []func()
			for _, from := range test.from {
				if release, ok := l.Take(&net.TCPAddr{IP: net.ParseIP(from), Port: 1}); ok {
					releases = append(releases, release)
				}
			}
			metrics, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			refused, counted := len(test.from)-test.served, metrics[0].GetMetric()[0].GetCounter().GetValue()
			if len(releases) != test.served || counted != float64(refused) {
				t.Errorf("%d are served, %v counted as refused; want %d and %d", len(releases), counted, test.served, refused)
			}
			if lines := strings.Count(log.String(), "max-connections reached"); lines != min(refused, 1) {
				t.Errorf("the log has %d lines of %d refused connections:\n%s", lines, refused, &log)
			}
			for _, release := range releases {
				release()
				release() // net/http may close a connection twice
			}
			if l.open.total != 0 || len(l.open.by) != 0 {
				t.Errorf("%d connections are left", l.open.total)
			}
		})
	}
}
