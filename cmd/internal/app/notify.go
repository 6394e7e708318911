package app

import (
	"context"
	"net"
	"os"
	"time"
)

// These are the states of a systemd service of Type=notify: see sd_notify(3).
const (
	stateReady    = "READY=1"
	stateStopping = "STOPPING=1"
)

// notifySystemd notifies the service manager of a state if NOTIFY_SOCKET is set. Errors
// are only logged, because a manager without a notification applies its own timeouts.
func notifySystemd(ctx context.Context, state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	const wait = time.Second
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unixgram", socket)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // a datagram is sent or not
	_, err = conn.Write([]byte(state))
	return err
}
