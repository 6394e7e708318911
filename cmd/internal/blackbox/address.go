package blackbox

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// The ports of FreeAddress are below those that systems give to connections and to
// listeners that ask for any (from 32768 on Linux): one of these would be taken by
// whoever connects somewhere before it is used.
const (
	lowestPort  = 20000
	highestPort = 32000
)

var handedOut sync.Map // the ports that this process was given, so that none is twice

// FreeAddress is an address on the loopback that nobody listens on now, and that this
// process is given once.
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
