package doctor

import (
	"io/fs"
	"runtime"

	"github.com/gridhook/gridhook/cmd/internal/app"
)

// machine provides the checks of the local machine.
type machine struct {
	// space returns the free bytes of a folder's file system, and its size.
	space func(folder string) (free, size uint64, err error)
	// inMemory returns the name of a folder's file system if it keeps its files in
	// memory.
	inMemory func(folder string) (kind string, is bool)
	// writable returns an error if this user cannot write into a folder.
	writable func(folder string) error
	// modes reports whether the mode of a file shows who may read the file. On Windows the
	// mode is 0666 or 0777, whatever the permissions are.
	modes bool
	// openFiles returns the limit of a process's open files.
	openFiles func() (uint64, error)
}

// here is the local machine.
var here = machine{space: app.Space, inMemory: inMemory, writable: writable, modes: runtime.GOOS != "windows", openFiles: openFiles}

// mode returns the permissions of a file, 0 if modes do not show them.
func (m machine) mode(info fs.FileInfo) fs.FileMode {
	if !m.modes {
		return 0
	}
	return info.Mode().Perm()
}
