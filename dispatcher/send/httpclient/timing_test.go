package httpclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

func TestPost_Timing(t *testing.T) {
	const pause = 20 * time.Millisecond
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-time.After(pause) }))
	defer server.Close()
	c := newClient(t, new(atomic.Int64))
	c.options.TLS.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	to := target(t, c, server.URL)
	var first, second Timing
	for i, timing := range []*Timing{&first, &second} {
		began := time.Now()
		if _, err := to.Do(patience(t), &Request{Body: []byte("x")}, timing); err != nil {
			t.Fatal(err)
		}
		if sum, took := timing.DNS+timing.Connect+timing.TLS+timing.FirstByte, time.Since(began); timing.FirstByte < pause || sum > took {
			t.Errorf("request %d: %+v of %s", i, *timing, took)
		}
	}
	if first.Connect <= 0 || first.TLS <= 0 {
		t.Errorf("on a new connection: %+v", first)
	}
	if second.Connect != 0 || second.TLS != 0 || second.DNS != 0 {
		t.Errorf("on an open connection: %+v", second)
	}
}

// Name resolution is timed separately, and a part that was not reached takes no time.
func TestPost_TimingOfFailure(t *testing.T) {
	c := newClient(t, new(atomic.Int64))
	c.options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		d := net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no resolver")
		}}}
		return d.DialContext(ctx, network, address)
	}
	var timing Timing
	_, err := target(t, c, "http://nowhere.example/").Do(patience(t), &Request{}, &timing)
	var dns *net.DNSError
	if !errors.As(err, &dns) || timing.DNS <= 0 || timing.TLS != 0 || timing.FirstByte != 0 {
		t.Errorf("%+v, %v", timing, err)
	}
	raw := scripted(t, func(int, io.Writer) bool { return false }) // it does not use TLS
	timing = Timing{}
	_, err = target(t, newClient(t, new(atomic.Int64)), "https"+raw[len("http"):]).Do(patience(t), &Request{}, &timing)
	if !errors.Is(err, ErrTLS) || timing.TLS <= 0 || timing.FirstByte != 0 {
		t.Errorf("%+v, %v", timing, err)
	}
}
