package doctor

import (
	"syscall"

	"github.com/gridhook/gridhook/cmd/internal/app"
)

// machine is what is asked of the machine that Gridhook is on.
type machine struct {
	// room is how many bytes of a folder's file system are free, and how many there are.
	room func(folder string) (free, size uint64, err error)
	// inMemory names the file system of a folder where it keeps its files in memory.
	inMemory func(folder string) (kind string, is bool)
	// openFiles is how many files a process may have open at most.
	openFiles func() (uint64, error)
}

// here is the machine that this runs on.
var here = machine{room: app.Room, inMemory: inMemory, openFiles: openFiles}

func openFiles() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Max), err //nolint:unconvert // its type is another on other systems
}
