package httpclient

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// gathering returns a connection with gathered writes, and its other side. One read of the
// other side with enough room returns one write.
func gathering(t testing.TB) (ours *gatheredConn, theirs net.Conn) {
	a, b := net.Pipe()
	t.Cleanup(func() { _ = b.Close(); _ = a.Close() })
	return gatherWrites(a, a), b
}

func mustWrite(t testing.TB, c net.Conn, text string) {
	if n, err := io.WriteString(c, text); n != len(text) || err != nil {
		t.Errorf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}

func oneRead(t testing.TB, c net.Conn) string {
	buffer := make([]byte, 1<<20)
	n, err := c.Read(buffer)
	if err != nil {
		t.Error(err)
	}
	return string(buffer[:n])
}

func TestGatheredConn_Order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := gathering(t)
		mustWrite(t, ours, "a")
		synctest.Wait() // now it is being written
		mustWrite(t, ours, "b")
		mustWrite(t, ours, "c")
		if first, second := oneRead(t, theirs), oneRead(t, theirs); first != "a" || second != "bc" {
			t.Errorf("writes %q and %q, want a and bc", first, second)
		}
		synctest.Wait()
		mustWrite(t, ours, "d")
		if again := oneRead(t, theirs); again != "d" {
			t.Errorf("after a pause %q, want d", again)
		}
	})
}

func TestGatheredConn_Bound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := gathering(t)
		mustWrite(t, ours, "a")
		synctest.Wait()
		full := strings.Repeat("b", maxGathered)
		mustWrite(t, ours, full)
		written := make(chan bool)
		go func() {
			mustWrite(t, ours, "c")
			close(written)
		}()
		synctest.Wait()
		select {
		case <-written:
			t.Errorf("a write beside %d gathered bytes did not wait", maxGathered)
		default:
		}
		if got := oneRead(t, theirs) + oneRead(t, theirs) + oneRead(t, theirs); got != "a"+full+"c" {
			t.Errorf("got %d bytes, want %d in order", len(got), len(full)+2)
		}
		<-written
	})
}

func TestGatheredConn_Error(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := gathering(t)
		mustWrite(t, ours, "a")
		synctest.Wait()
		mustWrite(t, ours, strings.Repeat("b", maxGathered))
		failed := make(chan error)
		go func() {
			_, err := io.WriteString(ours, "waits")
			failed <- err
		}()
		synctest.Wait()
		_ = theirs.Close()
		if err := <-failed; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a waiting write returns %v", err)
		}
		if _, err := io.WriteString(ours, "later"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a later write returns %v", err)
		}
	})
}

// Gathered bytes are written before the connection is closed, if the other side reads
// them. A later write fails.
func TestGatheredConn_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := gathering(t)
		mustWrite(t, ours, "a")
		synctest.Wait()
		mustWrite(t, ours, "b")
		read := make(chan string)
		go func() {
			all, _ := io.ReadAll(theirs)
			read <- string(all)
		}()
		if err := ours.Close(); err != nil {
			t.Error(err)
		}
		if got := <-read; got != "ab" {
			t.Errorf("got %q, want ab", got)
		}
		if _, err := io.WriteString(ours, "c"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write after Close returns %v", err)
		}
	})
}

// Neither the gathered bytes nor the goodbye of TLS delay Close if the other side does not
// read.
func TestGatheredConn_CloseWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, text := range map[string]string{"nothing": "", "bytes": "a"} {
			a, b := net.Pipe()
			secure, _ := secured(t, a, b)
			ours := gatherWrites(secure, a)
			if text != "" {
				mustWrite(t, ours, text)
			}
			synctest.Wait()
			started := time.Now()
			_ = ours.Close()
			if took := time.Since(started); took != closeTimeout {
				t.Errorf("%s: Close took %v, want %v", name, took, closeTimeout)
			}
		}
	})
}

func TestGatheredConn_CloseOfTLS(t *testing.T) {
	secure, theirs := securePair(t)
	ours := gatherWrites(secure, secure.NetConn())
	mustWrite(t, ours, "last")
	if err := ours.Close(); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(theirs); string(got) != "last" || err != nil {
		t.Errorf("got %q, %v, want the text and an orderly end", got, err)
	}
}
