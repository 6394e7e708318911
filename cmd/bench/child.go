package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	c := &child{command: exec.CommandContext(ctx, self, args...)} //nolint:gosec // this very program
	c.command.Stderr = os.Stderr
	if c.stdin, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, fmt.Errorf("start the process of %s: %w", args[0], err)
	}
	c.stdout = bufio.NewReader(stdout)
	line, err := c.stdout.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the process of %s did not say where it listens: %w", args[0], err), c.Close())
	}
	c.line = strings.TrimSpace(line)
	return c, nil
}

// Close ends the process.
func (c *child) Close() error { return errors.Join(c.stdin.Close(), c.command.Wait()) }
