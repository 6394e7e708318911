package send

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// These are verdicts on destinations, with the corpus if GRIDHOOK_TESTDATA is set.
func TestGuard_URLs(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://hooks.example.com/x":                      true,
		"https://hooks.example.com:443/x?y=z":              true,
		"https://hooks.example.com:8443/":                  true,
		"HTTPS://HOOKS.EXAMPLE.COM./":                      true,
		"https://xn--bcher-kva.example/":                   true,
		"https://1und1.example/":                           true,
		"https://a.b.c.d.example/":                         true,
		"http://hooks.example.com/":                        false,
		"ftp://hooks.example.com/":                         false,
		"https://hooks.example.com:80/":                    false,
		"https://hooks.example.com:/":                      false,
		"https://u:p@hooks.example.com/":                   false,
		"https://u@hooks.example.com/":                     false,
		"https://hooks.example.com/#f":                     false,
		"https://hooks.example.com/#":                      false,
		"https:hooks.example.com":                          false,
		"//hooks.example.com/":                             false,
		"https:///x":                                       false,
		"":                                                 false,
		"https://93.184.215.14/":                           false, // an address needs no name, and shows no other
		"https://[2606:2800:21f::1]/":                      false,
		"https://localhost/":                               false,
		"https://a.localhost/":                             false,
		"https://internal/":                                false,
		"https://intranet/":                                false,
		"https://home.arpa/":                               false,
		"https://a.internal./":                             false,
		"https://kubernetes.default.svc/":                  false,
		"https://x.onion/":                                 false,
		"https://127.1/":                                   false,
		"https://0x7f.1/":                                  false,
		"https://2130706433/":                              false,
		"https://017700000001/":                            false,
		"https://a.0x7f/":                                  false,
		"https://exa_mple.com/":                            false,
		"https://-a.example/":                              false,
		"https://a-.example/":                              false,
		"https://a..example/":                              false,
		"https://.example/":                                false,
		"https://*.example/":                               false,
		"https://bücher.example/":                          false,
		"https://127。0。0。1/":                               false,
		"https://" + strings.Repeat("a", 64) + ".example/": false,
		"https://" + strings.Repeat("a", 63) + ".example/": true,
		"https://" + strings.Repeat(strings.Repeat("a", 60)+".", 4) + "example.com/": false,
		"https://a.example/" + strings.Repeat("a", maxURL-len("https://a.example/")): true,
		"https://a.example/" + strings.Repeat("a", maxURL):                           false,
	} {
		err := Guard{}.CheckURL(raw)
		var invalid *storage.InvalidError
		if (err == nil) != want || err != nil && (!errors.As(err, &invalid) || invalid.Fields[0].Field != "url") {
			t.Errorf("%q: %v, want it allowed: %v", raw, err, want)
		}
	}
}

func TestGuard_PrivateDestinations(t *testing.T) {
	g := Guard{AllowPrivate: true}
	for raw, want := range map[string]bool{
		"http://localhost:9000/hooks": true, "http://127.0.0.1:1/": true, "https://[::1]:8080/": true, "https://hooks.example.com/": true,
		"ftp://localhost/": false, "localhost:9000": false, "": false, "http://": false,
		"http://127.0.0.1:0/": false, "http://127.0.0.1:65535/": true, "http://127.0.0.1:65536/": false, "http://127.0.0.1:/": true,
	} {
		if err := g.CheckURL(raw); (err == nil) != want {
			t.Errorf("%q: %v, want it allowed: %v", raw, err, want)
		}
	}
	if err := g.control("tcp4", "127.0.0.1:80", nil); err != nil {
		t.Error(err)
	}
}

func TestGuard_Addresses(t *testing.T) {
	for _, tt := range []struct {
		network, address string
		want             bool
	}{
		{"tcp4", "93.184.215.14:443", true},
		{"tcp4", "93.184.215.14:8443", true},
		{"tcp6", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443", true},
		{"tcp4", "93.184.215.14:80", false},
		{"udp4", "93.184.215.14:443", false},
		{"tcp4", "127.0.0.1:443", false},
		{"tcp6", "[::ffff:127.0.0.1]:443", false},
		{"tcp6", "[::ffff:93.184.215.14]:443", true},
		{"tcp6", "[fe80::1%eth0]:443", false},
		{"tcp6", "[2606:2800:21f::1%eth0]:443", false},
		{"tcp4", "100.64.0.1:443", false},
		{"tcp4", "169.254.169.254:443", false},
		{"tcp6", "[fd00:ec2::254]:443", false},
		{"tcp6", "[64:ff9b::a00:1]:443", false},
		{"tcp4", "255.255.255.255:443", false},
		{"tcp4", "224.0.0.1:443", false},
		{"tcp4", "hooks.example.com:443", false}, // an unresolved name is not an address
		{"tcp4", "93.184.215.14", false},
	} {
		if err := (Guard{}).control(tt.network, tt.address, nil); (err == nil) != tt.want {
			t.Errorf("%s %s: %v, want it allowed: %v", tt.network, tt.address, err, tt.want)
		}
	}
}

// The corpus has addresses, URLs and behaviors of resolvers, each with the wanted
// verdict.
func TestGuard_Corpus(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no corpus of destinations")
	}
	text, err := os.ReadFile(filepath.Join(dir, "corpora", "ssrf_addresses.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Input, Kind, Verdict, Reason string }
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, row := range rows {
		want := row.Verdict == "allow"
		switch row.Kind {
		case "ip":
			addr, err := netip.ParseAddr(row.Input)
			if err != nil {
				t.Fatal(err)
			}
			if err := (Guard{}).control("tcp", net.JoinHostPort(row.Input, "443"), nil); (err == nil) != want {
				t.Errorf("%s (%s): %v, want %s", addr, row.Reason, err, row.Verdict)
			}
		case "url":
			err := Guard{}.CheckURL(row.Input)
			if err == nil {
				// The storage's own rules apply first at registration.
				e := storage.NewWebhookEndpoint("org")
				e.ID, e.URL = "ep", row.Input
				err = storage.Validate(&e)
			}
			if strings.Contains(row.Reason, "caught at dial") {
				continue // the name alone does not decide
			}
			if (err == nil) != want {
				t.Errorf("%q (%s): %v, want %s", row.Input, row.Reason, err, row.Verdict)
			}
		default: // redirects and resolvers: other tests check the dialed address
			continue
		}
		tried++
	}
	if tried < 250 {
		t.Errorf("only %d rows were tested", tried)
	}
}

// TestGuard_URLMessages checks that the error of a URL names what is wrong, and the remedy.
func TestGuard_URLMessages(t *testing.T) {
	for raw, want := range map[string][]string{
		"http://example.com/hooks?token=secret":             {"not http:", "allow-private-destinations"},
		"https://example.com:9090/?token=secret":            {"not 9090:", "allowed-destinations", "allow-private-destinations"},
		"https://receiver.internal:8443/hooks?token=secret": {`not "receiver.internal"`, "allowed-destinations", "allow-private-destinations"},
	} {
		err := Guard{}.CheckURL(raw)
		if err == nil {
			t.Errorf("%s is accepted", raw)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error is %v, want ...%s...", raw, err, part)
			}
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the query: %v", err)
		}
	}
}
