package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// disk is a separate file system whose power can be cut: ext4 on a loop device.
type disk struct{ image, mount string }

// errNoDisk says that this machine does not allow new file systems.
var errNoDisk = errors.New("it needs root that may mount, mount and mkfs.ext4")

const diskSize = 512 << 20

// newDisk creates and mounts a disk under a folder.
func newDisk(dir string) (*disk, error) {
	d := &disk{image: filepath.Join(dir, "disk.img"), mount: filepath.Join(dir, "disk")}
	if err := mountable("mkfs.ext4"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.mount, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(d.image, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(diskSize), f.Close()); err != nil {
		return nil, err
	}
	if err := command("mkfs.ext4", "-q", d.image); err != nil {
		return nil, err
	}
	return d, mounted("-o", "loop", d.image, d.mount)
}

func mountable(tools ...string) error {
	if os.Geteuid() != 0 {
		return errNoDisk
	}
	for _, tool := range append(tools, "mount", "umount") {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: %w", errNoDisk, err)
		}
	}
	return nil
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil { //nolint:gosec,noctx // the arguments are ours, and it ends
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// FS_IOC_SHUTDOWN makes ext4 drop all data that is not flushed, including its journal.
// From then on every access fails (linux/fs.h, ext4.h).
const (
	fsShutdown        = 0x8004587d // FS_IOC_SHUTDOWN
	shutdownNoLogSync = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
)

// cut simulates a power cut: data that was not flushed is lost.
func (d *disk) cut() error {
	f, err := os.Open(d.mount)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	flags := uint32(shutdownNoLogSync)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), fsShutdown, uintptr(unsafe.Pointer(&flags))) //nolint:gosec // that is how an ioctl is called
	if errno != 0 {
		return fmt.Errorf("cut the power: %w", errno)
	}
	return nil
}

// again mounts the disk as a booting machine does, with a replay of the journal. No file
// on it may be open.
func (d *disk) again() error {
	if err := d.unmount(); err != nil {
		return err
	}
	return command("mount", "-o", "loop", d.image, d.mount)
}

// unmount waits briefly for files that a killed process still holds open.
func (d *disk) unmount() (err error) {
	for range 50 {
		if err = command("umount", d.mount); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

func (d *disk) remove() error { return errors.Join(d.unmount(), os.Remove(d.image)) }

// newSmallDisk mounts a small file system in memory.
func newSmallDisk(dir string, size int64) (*disk, error) {
	d := &disk{mount: filepath.Join(dir, "small")}
	if err := mountable(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.mount, 0o700); err != nil {
		return nil, err
	}
	return d, mounted("-t", "tmpfs", "-o", fmt.Sprintf("size=%d", size), "tmpfs", d.mount)
}

// mounted mounts a file system for the first time. In a container without the capability,
// even root may not mount.
func mounted(args ...string) error {
	if err := command("mount", args...); err != nil {
		return fmt.Errorf("%w: %w", errNoDisk, err)
	}
	return nil
}
