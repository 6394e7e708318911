package send

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
)

// The response to a batch is read over real connections of both protocols. An incomplete
// response counts as none. For a request without a batch only the status counts.
func TestSend_WholeResponseOnly(t *testing.T) {
	const text = `{"results":[{"webhookId":"msg_1","status":422,"reason":"unknown home"}]}`
	for _, multiplexed := range []bool{false, true} {
		whole := true
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != multiplexed {
				t.Errorf("the protocol is %s", r.Proto)
			}
			if whole {
				_, _ = io.WriteString(w, text)
				return
			}
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		server.EnableHTTP2 = multiplexed
		server.Config.ErrorLog = quiet
		server.StartTLS()
		e := endpointAt(t, server.URL, time.Minute)
		e.Protocol = httpclient.HTTP2
		s := trusting(t, server)
		for _, whole = range []bool{true, false} {
			if one := post(t, s, e); one.Verdict() != policy.Delivered {
				t.Errorf("no batch, whole %t: got %+v", whole, one)
			}
			a := postBody(t.Context(), t, s, e, []byte(testBody), MaxResponse)
			if whole != (a.Err == nil) || whole && string(a.Body) != text {
				t.Errorf("whole %t: got %+v", whole, a)
			}
		}
		server.Close()
	}
}
