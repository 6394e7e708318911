package storagetest

import "syscall"

// memoryFolder returns a folder of a file system in memory. It returns "" if the file
// system has less free space than the tests of two packages need, as in many containers, or
// cannot run programs that tests build.
func memoryFolder() string {
	const folder, needed = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Flags&syscall.MS_NOEXEC != 0 || fs.Bavail*uint64(fs.Bsize) < needed { //nolint:gosec // a block's size is positive
		return ""
	}
	return folder
}
