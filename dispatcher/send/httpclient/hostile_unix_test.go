//go:build unix

package httpclient

import "syscall"

// readable reports whether a socket has data, has ended or has failed.
func readable(fd uintptr) bool {
	var p [1]byte
	_, _, err := syscall.Recvfrom(int(fd), p[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err != syscall.EAGAIN && err != syscall.EINTR
}
