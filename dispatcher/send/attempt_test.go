package send

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
)

// Every failure has its class.
func TestAttempt_ErrorClasses(t *testing.T) {
	status := func(code int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	closed := sink(t, func(net.Conn) {})
	const nobody = "127.0.0.1:1" // a port that was just closed may be another test's soon
	hanging := sink(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<16)); <-t.Context().Done() })
	private := New(Options{IdlePerDestination: 1})
	t.Cleanup(private.Close)
	open := newTestSender(t)
	for name, tt := range map[string]struct {
		sender *Sender
		url    string
		want   events.ErrorClass
	}{
		"204":                  {open, status(204), ""},
		"a redirect":           {open, status(302), events.ErrorStatus},
		"500":                  {open, status(500), events.ErrorStatus},
		"an unknown name":      {resolving(t, Guard{}), "http://nowhere.example/", events.ErrorDNS},
		"a closed port":        {open, "http://" + nobody, events.ErrorConnect},
		"no TLS":               {open, "https://" + closed, events.ErrorTLS},
		"no response":          {open, "http://" + closed, events.ErrorResponse},
		"no response in time":  {open, "http://" + hanging, events.ErrorTimeout},
		"a private address":    {private, "http://" + nobody, events.ErrorNotAllowed},
		"an unknown authority": {open, tlsServer(t), events.ErrorTLS},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := patient
			if tt.want == events.ErrorTimeout {
				timeout = hasty
			}
			a := post(t, tt.sender, endpointAt(t, tt.url, timeout))
			var d events.Delivery
			if a.Describe(&d); d.ErrorClass != tt.want {
				t.Errorf("%+v is %q, want %q", a, d.ErrorClass, tt.want)
			}
		})
	}
	for want, err := range map[events.ErrorClass]error{
		events.ErrorStopping: ErrStopping,
		events.ErrorTimeout:  fmt.Errorf("%w within 1s", errTimeout),
		events.ErrorTLS:      &net.OpError{Op: "remote error", Err: tls.AlertError(40)}, // after the handshake
		events.ErrorResponse: errors.New("malformed HTTP response"),
	} {
		if got := classify(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

func tlsServer(t *testing.T) string {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.URL
}

func TestAttempt_Timing(t *testing.T) {
	a := Attempt{Took: 30 * time.Millisecond, Timing: httpclient.Timing{DNS: time.Millisecond, Connect: 2 * time.Millisecond, TLS: 3 * time.Millisecond, FirstByte: 10 * time.Millisecond}}
	if got, want := a.parts(), (events.Timing{DNS: 1, Connect: 2, TLS: 3, FirstByte: 10}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	a.Timing.FirstByte = 23500 * time.Microsecond // and then it was over
	if got := a.parts(); got.FirstByte != 0 {
		t.Errorf("%+v repeats the total duration", got)
	}
}

// Over HTTP/2 the parts are timed as well.
func TestAttempt_TimingHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	sender := trusting(t, s)
	e := endpointAt(t, s.URL, time.Minute)
	e.Protocol = httpclient.HTTP2
	if a := post(t, sender, e); a.Status != 200 || a.Timing.Connect <= 0 || a.Timing.TLS <= 0 || a.Timing.FirstByte <= 0 {
		t.Errorf("the first: %+v", a)
	}
	if a := post(t, sender, e); a.Status != 200 || a.Timing.Connect != 0 || a.Timing.FirstByte <= 0 {
		t.Errorf("the second: %+v", a)
	}
}

func TestAttempt_Reason(t *testing.T) {
	for want, a := range map[string]Attempt{
		"": {Status: 204},
		"the endpoint responded 500 Internal Server Error":                             {Status: 500},
		"the endpoint responded 301 Moved Permanently, and redirects are not followed": {Status: 301},
		strings.Repeat("a", longestReason):                                             {Err: errors.New(strings.Repeat("a", 2*longestReason))},
	} {
		if got := a.Reason(); got != want {
			t.Errorf("the reason is %q, want %q", got, want)
		}
	}
	if none := (&Attempt{}); none.Reason() != "" {
		t.Errorf("without a request the reason is %q", none.Reason())
	}
}
