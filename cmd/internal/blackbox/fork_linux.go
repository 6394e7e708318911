package blackbox

import (
	"os/exec"
	"runtime"
	"syscall"
)

// dieWithParent makes the kernel kill a child when the thread that started it
// ends, as it does when the parent is killed.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// forks is served by one thread that lives as long as the process.
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

// fork starts a command on that thread.
func fork(cmd *exec.Cmd) error {
	done := make(chan error)
	forks <- func() { done <- cmd.Start() }
	return <-done
}
