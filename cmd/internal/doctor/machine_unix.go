//go:build unix

package doctor

import "syscall"

func openFiles() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Max), err //nolint:gosec,unconvert // its type is another on other systems
}

func writable(folder string) error {
	const writeAndEnter = 2 | 1 // W_OK and X_OK
	return syscall.Access(folder, writeAndEnter)
}
