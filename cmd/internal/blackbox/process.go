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

// Spec says what to start.
type Spec struct {
	// Binary and Args are the command, Env what is added to Environ.
	Binary string
	Args   []string
	Env    []string
	// Log takes what the process writes to standard error; nil drops it.
	Log io.Writer
	// Ready looks at a line of the process's output, standard output and
	// standard error alike, and says whether it tells that the process is ready.
	Ready func(line string) bool
	// Patience bounds the wait for that.
	Patience time.Duration
}

// Process is a child that runs. It dies with its parent.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of waiting, once exited
}

// ErrNotReady says that a process did not become ready in time, ErrEnded that it
// ended before it was.
var (
	ErrNotReady = errors.New("was not ready in time")
	ErrEnded    = errors.New("ended")
)

// Environ is the environment of this process without Gridhook's own variables: what is
// set on the machine of whoever runs a test is no part of the test.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GRIDHOOK_") })
}

// Start starts a process and returns when it is ready. One that is not ready in
// time is killed.
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

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode is how it ended, -1 for a signal. It may be asked once Exited is closed.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Kill is kill -9. It returns when the process is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.exited
}

// Signal sends a signal; SIGSTOP pauses and SIGCONT lets it go on.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Stop stops the process as an operator does. Its error says so when the process
// does not end in time or not well.
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

// lineWatch hands whole lines to a function and everything on.
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
