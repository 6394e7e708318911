package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// untilSignal returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. The
// second SIGINT or SIGTERM ends the process at once.
func untilSignal(parent context.Context) (_ context.Context, stop func()) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, release := signal.NotifyContext(parent, signals...)
	onSignal := sync.OnceFunc(func() {
		signal.Ignore(syscall.SIGHUP) // the shell and the kernel both send it when a terminal closes
		release()
	})
	unregister := context.AfterFunc(ctx, onSignal)
	return ctx, func() {
		if !unregister() {
			onSignal() // it may be running
		}
		release()
	}
}

// interruptible is a reader whose reads end with ctx. A read of a terminal or a pipe does
// not. It reads r only after its first Read, because other programs may share r.
type interruptible struct {
	ctx  context.Context //nolint:containedctx // Read has no context
	r    io.Reader
	pipe *io.PipeReader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.pipe == nil {
		var w *io.PipeWriter
		i.pipe, w = io.Pipe()
		go func() {
			_, err := io.Copy(w, i.r)
			_ = w.CloseWithError(err) // returns nil
		}()
		context.AfterFunc(i.ctx, func() { _ = w.CloseWithError(context.Cause(i.ctx)) })
	}
	return i.pipe.Read(p)
}
