package blackbox

import (
	"os/exec"
	"runtime"
	"syscall"
)

// dieWithParent makes the kernel kill a child when the thread that started it ends. That
// also happens when the parent is killed.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// forks is a channel to one thread that lives as long as the process.
var forks = func() chan func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
}()

// fork starts a command on the thread of forks.
func fork(cmd *exec.Cmd) error {
	done := make(chan error)
	forks <- func() { done <- cmd.Start() }
	return <-done
}
