package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// What is read here is read as net/http reads it, the second time too, when the head is
// known.
func FuzzCut(f *testing.F) {
	for _, raw := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /v1/devices/hvac/dev_1/get HTTP/1.1\r\nHost: x:80\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}POST ",
		"POST /a HTTP/1.1\r\nhost:x\r\ncontent-length: 02 \r\nX-A:\r\nx-a: b  c\r\nPragma: no-cache\r\n\r\nokok",
		"POST /a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
		"POST //a HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a/../b HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\nx",
		"POST /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nConnection: x, close\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var h head
		for range 2 {
			body, length, found := h.cut(raw)
			if found != whole {
				return
			}
			in := bufio.NewReaderSize(bytes.NewReader(raw), len(raw)+16)
			want, err := http.ReadRequest(in)
			if err != nil {
				t.Fatalf("net/http refuses it: %v", err)
			}
			wanted, err := io.ReadAll(want.Body)
			if err != nil {
				t.Fatalf("net/http finds no body: %v", err)
			}
			x := (&connection{head: h}).exchange(body)
			r := &x.request
			if !bytes.Equal(body, wanted) || len(raw)-in.Buffered() != length {
				t.Fatalf("the body is %q of %d bytes, where net/http says %q of %d", body, length, wanted, len(raw)-in.Buffered())
			}
			if r.Method != want.Method || r.RequestURI != want.RequestURI || *r.URL != *want.URL || r.Host != want.Host || r.Proto != want.Proto ||
				!reflect.DeepEqual(r.Header, want.Header) || r.ContentLength != want.ContentLength || want.Close || want.TransferEncoding != nil || want.Trailer != nil {
				t.Fatalf("it is %+v, where net/http says %+v", r, want)
			}
		}
	})
}

// What is not plain is left to net/http.
func TestNotPlain(t *testing.T) {
	const host = "Host: x\r\n"
	for name, test := range map[string]struct {
		raw  string
		want cutting
	}{
		"a plain one":              {"POST /a/b-c_d.e~f HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\nx", whole},
		"without a length":         {"POST / HTTP/1.1\r\n" + host + "\r\n", whole},
		"kept alive":               {"POST / HTTP/1.1\r\n" + host + "Connection: keep-alive\r\n\r\n", whole},
		"with more after it":       {"POST / HTTP/1.1\r\n" + host + "\r\nGET", whole},
		"the beginning":            {"PO", partial},
		"half a head":              {"POST / HTTP/1.1\r\nHost", partial},
		"half a body":              {"POST / HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\nx", partial},
		"another method":           {"GET / HTTP/1.1\r\n" + host + "\r\n", foreign},
		"the beginning of another": {"G", foreign},
		"a method in small":        {"post / HTTP/1.1\r\n" + host + "\r\n", foreign},
		"HTTP/1.0":                 {"POST / HTTP/1.0\r\n" + host + "\r\n", foreign},
		"HTTP/2":                   {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", foreign},
		"TLS":                      {"\x16\x03\x01", foreign},
		"no target":                {"POST HTTP/1.1\r\n" + host + "\r\n", foreign},
		"an absolute target":       {"POST http://y/ HTTP/1.1\r\n" + host + "\r\n", foreign},
		"a query":                  {"POST /?a HTTP/1.1\r\n" + host + "\r\n", foreign},
		"an escaped path":          {"POST /%61 HTTP/1.1\r\n" + host + "\r\n", foreign},
		"two slashes":              {"POST //y/ HTTP/1.1\r\n" + host + "\r\n", foreign},
		"two spaces":               {"POST  / HTTP/1.1\r\n" + host + "\r\n", foreign},
		"no host":                  {"POST / HTTP/1.1\r\nX-A: b\r\n\r\n", foreign},
		"no head":                  {"POST / HTTP/1.1\r\n\r\n", foreign},
		"an empty host":            {"POST / HTTP/1.1\r\nHost:\r\n\r\n", foreign},
		"a strange host":           {"POST / HTTP/1.1\r\nHost: x/y\r\n\r\n", foreign},
		"two hosts":                {"POST / HTTP/1.1\r\n" + host + host + "\r\n", foreign},
		"the end of a connection":  {"POST / HTTP/1.1\r\n" + host + "CONNECTION: close\r\n\r\n", foreign},
		"chunks":                   {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", foreign},
		"chunks and a length":      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", foreign},
		"two lengths":              {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", foreign},
		"a signed length":          {"POST / HTTP/1.1\r\n" + host + "Content-Length: +1\r\n\r\nx", foreign},
		"a negative length":        {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\nx", foreign},
		"a large body":             {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4096\r\n\r\nx", foreign},
		"a body too large with it": {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4050\r\n\r\nx", foreign},
		"an expectation":           {"POST / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n", foreign},
		"many headers":             {"POST / HTTP/1.1\r\n" + host + strings.Repeat("X-A: b\r\n", mostHeaders) + "\r\n", foreign},
		"as many as may be":        {"POST / HTTP/1.1\r\n" + host + strings.Repeat("X-A: b\r\n", mostHeaders-1) + "\r\n", whole},
		"a strange connection":     {"POST / HTTP/1.1\r\n" + host + "Connection: a\r\n\r\n", foreign},
		"an upgrade":               {"POST / HTTP/1.1\r\n" + host + "Upgrade: h2c\r\nConnection: upgrade\r\n\r\n", foreign},
		"trailers":                 {"POST / HTTP/1.1\r\n" + host + "Trailer: X-A\r\n\r\n", foreign},
		"a folded line":            {"POST / HTTP/1.1\r\n" + host + "X-A: b\r\n c\r\n\r\n", foreign},
		"a space before the colon": {"POST / HTTP/1.1\r\n" + host + "X-A : b\r\n\r\n", foreign},
		"no colon":                 {"POST / HTTP/1.1\r\n" + host + "X-A\r\n\r\n", foreign},
		"no name":                  {"POST / HTTP/1.1\r\n" + host + ": b\r\n\r\n", foreign},
		"a bare line feed":         {"POST / HTTP/1.1\r\n" + host + "X-A: b\nX-B: c\r\n\r\n", foreign},
		"a bare carriage return":   {"POST / HTTP/1.1\r\n" + host + "X-A: b\rX-B: c\r\n\r\n", foreign},
		"a null":                   {"POST / HTTP/1.1\r\n" + host + "X-A: \x00\r\n\r\n", foreign},
		"beyond ASCII":             {"POST / HTTP/1.1\r\n" + host + "X-A: é\r\n\r\n", foreign},
	} {
		if _, _, got := new(head).cut([]byte(test.raw)); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// A head that was read is not read again, and one that differs in anything is.
func TestHeadsAreReadOnce(t *testing.T) {
	raw := "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nX-A: b\r\n\r\nx"
	var h head
	cut := func(raw string) *http.Request {
		if _, _, found := h.cut([]byte(raw)); found != whole {
			t.Fatalf("%q is not plain", raw)
		}
		return h.like
	}
	first := cut(raw)
	if cut(strings.Replace(raw, "/a", "/b", 1)) != first || h.target != "/b" {
		t.Error("it was read again for another target")
	}
	if other := cut(strings.Replace(raw, "X-A: b", "X-A: c", 1)); other == first || other.Header.Get("X-A") != "c" {
		t.Error("another head is taken for the one before")
	}
}
