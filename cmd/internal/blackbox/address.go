package blackbox

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// FreeAddress uses ports below the system's ephemeral range (from 32768 on Linux). A
// connection or a listener of another process could otherwise take the port before its
// use.
const (
	lowestPort  = 20000
	highestPort = 32000
)

var handedOut sync.Map // ports that FreeAddress has returned

// FreeAddress returns an unused address on the loopback. It never returns an address
// twice in a process.
func FreeAddress() (string, error) {
	for {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // nobody need not guess it
		if _, taken := handedOut.LoadOrStore(port, true); taken {
			continue
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return address, l.Close()
	}
}
