package doctor

import "syscall"

// inMemory returns the name of a file system that keeps its files in memory.
func inMemory(folder string) (kind string, is bool) {
	const tmpfs, ramfs = 0x01021994, 0x858458f6 // statfs(2)
	var fs syscall.Statfs_t
	if syscall.Statfs(folder, &fs) != nil {
		return "", false
	}
	switch int64(fs.Type) { //nolint:unconvert // its type is another on other processors
	case tmpfs:
		return "tmpfs", true
	case ramfs:
		return "ramfs", true
	}
	return "", false
}
