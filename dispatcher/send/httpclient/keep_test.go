package httpclient

import (
	"io"
	"sync/atomic"
	"testing"
)

// The client stores the requested number of bytes of a success, and the connection stays
// usable.
func TestKeep_Bounds(t *testing.T) {
	for _, keep := range []int{0, 3, 100} {
		var dials atomic.Int64
		to := target(t, newClient(t, &dials), scripted(t, func(_ int, w io.Writer) bool {
			_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole")
			return err == nil
		}))
		for range 2 {
			answer, err := to.Do(patience(t), &Request{Body: []byte("{}"), Keep: Keep{Success: keep, Failure: 1}}, &Timing{})
			if want := "whole"[:min(keep, 5)]; err != nil || string(answer.Body) != want {
				t.Errorf("limit of %d bytes stores %q, want %q: %v", keep, answer.Body, want, err)
			}
		}
		if n := dials.Load(); n != 1 {
			t.Errorf("%d connections were opened", n)
		}
	}
}
