package app

import (
	"net"
	"path/filepath"
	"testing"
)

func TestNotifySystemd_Socket(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notifySystemd(t.Context(), stateReady); err != nil {
		t.Errorf("without a manager: %v", err)
	}
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	if err := notifySystemd(t.Context(), stateReady); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 64)
	if n, err := l.Read(text); err != nil || string(text[:n]) != "READY=1" {
		t.Errorf("the manager received %q, %v", text[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	if err := notifySystemd(t.Context(), stateReady); err == nil {
		t.Error("a missing manager gives no error")
	}
}
