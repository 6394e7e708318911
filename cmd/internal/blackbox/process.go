package blackbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec describes a process to start.
type Spec struct {
	// Binary and Args are the command. Env is added to Environ.
	Binary string
	Args   []string
	Env    []string
	// Log receives the process's standard error; nil drops it.
	Log io.Writer
	// Ready reports whether a line of standard output or standard error announces
	// readiness.
	Ready func(line string) bool
	// Patience is the timeout of the wait for readiness.
	Patience time.Duration
}

// Process is a running child. It dies with its parent.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // the result of Wait, valid after exited
}

// ErrNotReady says that a process did not become ready in time. ErrEnded says that it
// ended before it was ready.
var (
	ErrNotReady = errors.New("was not ready in time")
	ErrEnded    = errors.New("ended")
)

// Environ returns this process's environment without Gridhook's variables, so that a
// developer's settings do not affect a test.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GRIDHOOK_") })
}

// Start starts a process and returns when it is ready. It kills a process that is not
// ready in time.
func Start(s Spec) (*Process, error) {
	p := &Process{cmd: exec.Command(s.Binary, s.Args...), exited: make(chan struct{})} //nolint:gosec,noctx // what to start is ours; it is killed by Kill
	p.cmd.Env = append(Environ(), s.Env...)
	dieWithParent(p.cmd)
	ready := make(chan struct{})
	var once sync.Once
	watch := func(to io.Writer) *lineWatch {
		return &lineWatch{to: to, line: func(line string) {
			if s.Ready(line) {
				once.Do(func() { close(ready) })
			}
		}}
	}
	p.cmd.Stdout, p.cmd.Stderr = watch(nil), watch(s.Log)
	if err := fork(p.cmd); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	timer := time.NewTimer(s.Patience)
	defer timer.Stop()
	select {
	case <-ready:
		return p, nil
	case <-p.exited:
		return nil, fmt.Errorf("%s %w: %w", strings.Join(s.Args, " "), ErrEnded, p.err)
	case <-timer.C:
		p.Kill()
		return nil, fmt.Errorf("%s %w", strings.Join(s.Args, " "), ErrNotReady)
	}
}

// Exited returns a channel that closes when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode returns the exit code, or -1 after a signal. Call it only after Exited is
// closed.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// PID returns the process identifier.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill sends SIGKILL and waits for the end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
}

// Signal sends a signal. SIGSTOP pauses the process and SIGCONT continues it.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Stop sends SIGTERM as an operator does. It returns an error if the process does not end
// in time or exits with a failure.
func (p *Process) Stop(patience time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		return errors.New("it does not stop")
	}
	if code := p.ExitCode(); code != 0 {
		return fmt.Errorf("it stopped with exit code %d", code)
	}
	return nil
}

// lineWatch passes its input on and calls a function for each whole line.
type lineWatch struct {
	to      io.Writer
	line    func(string)
	pending []byte
}

func (w *lineWatch) Write(b []byte) (int, error) {
	w.pending = append(w.pending, b...)
	for {
		line, rest, whole := bytes.Cut(w.pending, []byte("\n"))
		if !whole {
			break
		}
		w.line(string(line))
		w.pending = append(w.pending[:0], rest...)
	}
	if w.to == nil {
		return len(b), nil
	}
	return w.to.Write(b)
}
