//go:build unix

package httpclient

import (
	"errors"
	"io"
	"os"
	"syscall"
)

const canReadNonblocking = true

// readNonblocking reads from a socket. The net package has made the socket nonblocking.
func readNonblocking(fd uintptr, p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), p)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return 0, os.ErrDeadlineExceeded
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
