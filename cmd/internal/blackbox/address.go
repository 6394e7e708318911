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
	// blockSize is the number of ports in a block. A block belongs to one process.
	blockSize = 100
)

// ports are the unused ports of the process's blocks. The process listens on the first
// port of each block until it ends, so that no other process takes the block.
var ports struct {
	mu     sync.Mutex
	unused []string
	blocks []net.Listener
}

// FreeAddress returns an unused address on the loopback. It never returns an address
// twice, and no other process returns the address while this process runs.
func FreeAddress() (string, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for {
		if len(ports.unused) == 0 {
			if err := takeBlock(); err != nil {
				return "", err
			}
		}
		address := ports.unused[0]
		ports.unused = ports.unused[1:]
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

// takeBlock takes a block of ports that no process has. The caller holds the mutex.
func takeBlock() error {
	for {
		first := lowestPort + blockSize*rand.IntN((highestPort-lowestPort)/blockSize) //nolint:gosec // nobody need not guess it
		l, err := net.Listen("tcp", loopback(first))                                  //nolint:noctx // it does not wait
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return err
		}
		ports.blocks = append(ports.blocks, l)
		for port := first + 1; port < first+blockSize; port++ {
			ports.unused = append(ports.unused, loopback(port))
		}
		return nil
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
