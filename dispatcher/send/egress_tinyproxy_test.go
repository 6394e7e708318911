package send

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestEgress_Tinyproxy sends through the tinyproxy that GRIDHOOK_TINYPROXY names.
func TestEgress_Tinyproxy(t *testing.T) {
	binary := os.Getenv("GRIDHOOK_TINYPROXY")
	if binary == "" {
		t.Skip("GRIDHOOK_TINYPROXY does not name a tinyproxy: .ci/proxy finds one and runs this test")
	}
	roots, host := secureReceiver(t)
	_, port, _ := net.SplitHostPort(host)
	address := startTinyproxy(t, binary, port)
	proxy := &url.URL{Scheme: "http", Host: address, User: url.UserPassword("us", "secret")}
	guard := Guard{Allowed: Allowed{Hosts: []string{host}}}
	if a := attempt(t, Options{Guard: guard, Egress: Egress{Roots: roots, Proxy: proxy}}, host); a.Err != nil || a.Status != http.StatusOK {
		t.Errorf("through the proxy: %d %v", a.Status, a.Err)
	}
	stranger := &url.URL{Scheme: "http", Host: address}
	if a := attempt(t, Options{Guard: guard, Egress: Egress{Roots: roots, Proxy: stranger}}, host); a.Err == nil || a.Status != 0 {
		t.Errorf("without the password: %d %v", a.Status, a.Err)
	} else {
		t.Log("without the password:", a.Err)
	}
}

// startTinyproxy runs the proxy until the test ends and returns its address.
func startTinyproxy(t *testing.T, binary, connectPort string) string {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(address)
	file := filepath.Join(t.TempDir(), "tinyproxy.conf")
	config := fmt.Sprintf("Port %s\nListen 127.0.0.1\nTimeout 60\nMaxClients 10\nAllow 127.0.0.1\nBasicAuth us secret\nConnectPort %s\n", port, connectPort)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	said := &bytes.Buffer{}
	command := exec.CommandContext(t.Context(), binary, "-d", "-c", file) //nolint:gosec // the environment names the binary
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	for {
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address); err == nil {
			_ = conn.Close()
			return address
		}
		select {
		case <-ended:
			t.Fatalf("tinyproxy ended: %s", said)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
