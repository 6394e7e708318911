package app

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// Space returns the free bytes for this process on a folder's file system, and the file
// system's size.
func Space(folder string) (free, size uint64, err error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(path, &free, &size, nil)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return free, size, nil
}
