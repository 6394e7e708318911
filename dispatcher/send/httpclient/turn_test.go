package httpclient

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// Requests in turn end with their context while they wait for the response, and a request
// after that ends at once. So do a request with a shorter context, and a request beside
// another one in the same turn.
func TestInTurn_Canceled(t *testing.T) {
	asked, silent := make(chan struct{}), make(chan struct{})
	defer close(silent)
	var dials atomic.Int64
	c := newClient(t, &dials)
	to := target(t, c, scripted(t, func(n int, w io.Writer) bool {
		if n == 1 {
			_, err := io.WriteString(w, fine)
			return err == nil
		}
		asked <- struct{}{}
		<-silent
		return false
	}))
	ended := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s ended with %v", what, err)
		}
	}
	all, cancel := context.WithCancel(patience(t))
	ctx, done := InTurn(all)
	defer done()
	if _, err := to.post(ctx, []byte("{}"), 10); err != nil {
		t.Fatal(err)
	}
	shorter, end := context.WithCancel(ctx)
	go func() { <-asked; end() }()
	_, err := to.post(shorter, []byte("{}"), 10)
	ended("a request with a shorter context", err)

	beside := make(chan error)
	for range 2 {
		go func() {
			_, err := to.post(ctx, []byte("{}"), 10)
			beside <- err
		}()
	}
	<-asked
	<-asked
	cancel()
	ended("a request", <-beside)
	ended("a request beside it", <-beside)
	_, err = to.post(ctx, []byte("{}"), 10)
	ended("a request after the end", err)
}

// A turn that has ended cuts a connection that comes later.
func TestInTurn_Late(t *testing.T) {
	ours, theirs := pair(t)
	if _, err := io.WriteString(theirs, fine); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ctx, done := InTurn(ctx)
	defer done()
	cancel()
	turnOf(ctx).cut() // the context calls it too, at some time
	c := newHTTP1Conn(newCheckedConn(ours), 1024)
	unbind := c.bind(ctx, time.Now().Add(time.Minute))
	if _, err := c.conn.Read(make([]byte, 1)); err == nil || unbind() {
		t.Errorf("the read ended with %v", err)
	}
}
