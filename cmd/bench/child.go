package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// child is this program running one of its own commands in another process. The process
// ends when its standard input ends.
type child struct {
	// line is the first line of its output: its address.
	line string

	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader // what follows the first line
}

// startChild runs this program with arguments and waits for the first line of output.
func startChild(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, append([]string{self}, args...))
}

// startRemote is startChild for what runs on another machine in production. The process
// gets the processor time that all others leave. Windows has no command for that, and the
// process there competes with the server.
func startRemote(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var command []string
	switch runtime.GOOS {
	case "linux": // beside a process with the lowest nice value, the server still waits for milliseconds
		command = []string{"chrt", "--idle", "0"}
	case "windows":
	default:
		command = []string{"nice", "-n", "19"}
	}
	return startProcess(ctx, append(append(command, self), args...))
}

func startProcess(ctx context.Context, command []string) (_ *child, err error) {
	c := &child{command: exec.CommandContext(ctx, command[0], command[1:]...)} //nolint:gosec // this very program
	c.command.Stderr = os.Stderr
	if c.stdin, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, fmt.Errorf("start %q: %w", command, err)
	}
	c.stdout = bufio.NewReader(stdout)
	line, err := c.stdout.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%q did not say that it is ready: %w", command, err), c.Close())
	}
	c.line = strings.TrimSpace(line)
	return c, nil
}

// Close ends the process.
func (c *child) Close() error { return errors.Join(c.stdin.Close(), c.command.Wait()) }

// finish ends the process and decodes the rest of its output, which is JSON.
func (c *child) finish(into any) error {
	return errors.Join(c.stdin.Close(), json.NewDecoder(c.stdout).Decode(into), c.command.Wait())
}
