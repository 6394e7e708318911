package send

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// resolver is a name server that resolves a name to another address each time.
type resolver struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers []netip.Addr
	asked   int
}

func newResolver(t *testing.T) *resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &resolver{conn: conn}
	var serving sync.WaitGroup
	serving.Go(r.serve)
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = conn.Close()
		serving.Wait()
	})
	return r
}

func (r *resolver) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := r.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}
		for _, addr := range r.now(q.Type) {
			if addr.Is4() && q.Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
			}
			if addr.Is6() && q.Type == dnsmessage.TypeAAAA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
			}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = r.conn.WriteTo(out, from)
		}
	}
}

func (r *resolver) now(kind dnsmessage.Type) []netip.Addr {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kind == dnsmessage.TypeA {
		r.asked++
	}
	return r.answers
}

func (r *resolver) means(addrs ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = nil
	for _, a := range addrs {
		r.answers = append(r.answers, netip.MustParseAddr(a))
	}
}

// count returns how often an address was requested.
func (r *resolver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// A name that passed at registration, and resolves to another address at each connection,
// is checked at each. No earlier result counts. The reason does not name the address: the
// operator's name servers may know names that nobody else does.
func TestSend_Rebinding(t *testing.T) {
	const name = "hooks.rebinding.example"
	if err := (Guard{}).CheckURL("https://" + name + ":8443/hook"); err != nil {
		t.Fatal(err)
	}
	r := newResolver(t)
	s := New(Options{IdlePerDestination: 1})
	defer s.Close()
	for _, multiplexed := range []bool{false, true} {
		e := endpointAt(t, "https://"+name+":8443/hook", time.Minute)
		if multiplexed {
			e.Protocol = httpclient.HTTP2
		}
		for _, addrs := range [][]string{{"127.0.0.1"}, {"::1"}, {"10.0.0.7"}, {"169.254.169.254"}, {"::ffff:192.168.0.1"}, {"127.0.0.1", "::1", "fd00::1"}, {"0.0.0.0"}, {"64:ff9b::7f00:1"}} {
			r.means(addrs...)
			before := r.count()
			if a := post(t, s, e); a.Err == nil || !strings.Contains(a.Err.Error(), "not allowed: ") || !strings.Contains(a.Err.Error(), "allowed-destinations") {
				t.Errorf("resolved to %v: %+v", addrs, a)
			} else if reason := a.Reason(); slices.ContainsFunc(addrs, func(addr string) bool { return strings.Contains(reason, addr) }) {
				t.Errorf("the reason names the resolved address: %s", reason)
			}
			if r.count() == before {
				t.Errorf("no query resolved to %v", addrs)
			}
		}
	}
}

// A partner reads the reason of a failed delivery. It names neither the operator's name server nor
// an address of the process.
func TestSend_OwnAddresses(t *testing.T) {
	const name = "hooks.missing.example"
	r := newResolver(t)
	s := New(Options{})
	defer s.Close()
	e := endpointAt(t, "https://"+name+":8443/hook", time.Minute)
	a := post(t, s, e)
	if got, want := a.Reason(), "dial tcp: lookup "+name+": no such host"; got != want {
		t.Errorf("the reason of an unknown name is %q, want %q", got, want)
	}
	e.Tokens = NewTokens(&storage.Authentication{TokenURL: "https://" + name + "/token"}, "client-secret")
	a = post(t, s, e)
	if got := a.Reason(); !strings.Contains(got, "lookup "+name+": no such host") {
		t.Errorf("the reason of an unknown name of a token URL is %q", got)
	}
	e.Tokens = nil
	_ = r.conn.Close()
	a = post(t, s, e)
	if got := a.Reason(); strings.Contains(got, " on ") || strings.Contains(got, "->") || !strings.Contains(got, "lookup "+name+": ") || a.ErrorClass() != events.ErrorDNS {
		t.Errorf("without a name server the reason is %q, of the class %q", got, a.ErrorClass())
	}

	receiver, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	go func() {
		conn, err := receiver.Accept()
		if err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0) // the end is a reset
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	private := New(Options{Guard: Guard{AllowPrivate: true}})
	defer private.Close()
	a = post(t, private, endpointAt(t, "http://"+receiver.Addr().String(), time.Minute))
	if got := a.Reason(); !strings.Contains(got, "reset") || strings.Contains(got, "->") {
		t.Errorf("the reason of a reset connection is %q", got)
	}
}
