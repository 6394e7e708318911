package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Shutdown waits for requests that are being answered, and for nothing else.
func TestShutdownInterruptsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		finish := make(chan struct{})
		s := serveOn(l, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				<-finish
			}
		})
		fresh, waiting, slow := l.dial(t), l.dial(t), l.dial(t)
		waiting.send(post("/", "{}"))
		waiting.answer()
		slow.send(post("/slow", "{}"))
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(t.Context()) }()
		fresh.ended()
		waiting.ended()
		if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
		synctest.Wait()
		select {
		case err := <-stopped:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		close(finish)
		if r, _ := slow.answer(); !r.Close {
			t.Error("the answer does not say that it is the last")
		}
		slow.ended()
		if err := <-stopped; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
}

// Who has just connected is answered still, if the request comes at once.
func TestShutdownTurnsNobodyAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		s := serveOn(l, echo)
		asks, silent := l.dial(t), l.dial(t)
		synctest.Wait()
		began := time.Now()
		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(t.Context()) }()
		<-time.After(atOnce / 2)
		asks.send(post("/", "{}"))
		if r, _ := asks.answer(); !r.Close {
			t.Error("the answer does not say that it is the last")
		}
		asks.ended()
		silent.ended()
		if err := <-stopped; err != nil || time.Since(began) != atOnce {
			t.Errorf("Shutdown: %v after %s", err, time.Since(began))
		}
		<-s.done
	})
}

// unclosable is a listener that fails to close.
type unclosable struct{ pipes }

var errUnclosable = errors.New("it does not close")

func (u unclosable) Close() error { return errors.Join(u.pipes.Close(), errUnclosable) }

// A listener that fails to close is told of, and nobody is interrupted by it.
func TestShutdownWaitsWhateverFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := unclosable{make(pipes)}
		finish := make(chan struct{})
		s := serveOn(l, func(http.ResponseWriter, *http.Request) { <-finish })
		a := l.dial(t)
		a.send(post("/", "{}"))
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(t.Context()) }()
		synctest.Wait()
		if len(stopped) > 0 {
			t.Error("it did not wait")
		}
		close(finish)
		a.answer()
		if err := <-stopped; !errors.Is(err, errUnclosable) {
			t.Errorf("Shutdown: %v", err)
		}
		<-s.done
	})
}

// A request that was sent along with one that is being answered is not, so that the
// client sends it again elsewhere.
func TestShutdownBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		begun, finish := make(chan string, 2), make(chan struct{})
		s := serveOn(l, func(_ http.ResponseWriter, r *http.Request) {
			begun <- r.URL.Path
			<-finish
		})
		a := l.dial(t)
		a.send(post("/first", "") + post("/second", ""))
		<-begun
		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(t.Context()) }()
		synctest.Wait()
		close(finish)
		a.answer()
		a.ended()
		if err := <-stopped; err != nil || len(begun) > 0 {
			t.Errorf("Shutdown: %v, %d begun", err, len(begun))
		}
		<-s.done
	})
}

// Shutdown waits no longer than it may, and Close for nobody.
func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		finish := make(chan struct{})
		s := serveOn(l, func(http.ResponseWriter, *http.Request) { <-finish })
		slow := l.dial(t)
		slow.send(post("/", "{}"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		slow.ended()
		close(finish)
		<-s.done
	})
}

// faulty is a listener that has nothing but errors first.
type faulty struct {
	pipes
	errs chan error
}

func (f faulty) Accept() (net.Conn, error) {
	select {
	case err := <-f.errs:
		return nil, err
	default:
		return f.pipes.Accept()
	}
}

// A process that has too many files open accepts again when it can; a listener that is
// broken ends Serve.
func TestAcceptErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := faulty{make(pipes), make(chan error, 9)}
		l.errs <- &net.OpError{Op: "accept", Err: syscall.EMFILE}
		l.errs <- &net.OpError{Op: "accept", Err: syscall.EMFILE}
		s := serveOn(l, echo)
		began := time.Now()
		a := l.dial(t)
		a.send(post("/", "{}"))
		a.answer()
		if took := time.Since(began); took < 5*time.Millisecond || took > time.Second {
			t.Errorf("it accepted again after %s", took)
		}
		broken := errors.New("broken")
		l.errs <- broken
		b := l.dial(t)
		if err := <-s.done; !errors.Is(err, broken) {
			t.Errorf("Serve: %v", err)
		}
		_, _ = a.Close(), b.Close()
		_ = s.Server.Close()
	})
}
