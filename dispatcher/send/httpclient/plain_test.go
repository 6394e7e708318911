package httpclient

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// plain reads what net/http reads, or refuses.
func FuzzPlain_Request(f *testing.F) {
	for _, raw := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 00:00:00 GMT\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK",
		"HTTP/1.1 202 \r\ncontent-length:5\r\n\r\nwhole",
		"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := newHTTP1Conn(nil, len(raw))
		c.reader.Reset(bytes.NewReader(raw))
		_, _ = c.reader.Peek(1)
		before := c.reader.Buffered()
		answer, ok := c.plain(len(raw))
		if !ok {
			if c.reader.Buffered() != before {
				t.Fatal("plain read part of a rejected response")
			}
			return
		}
		in := bufio.NewReader(bytes.NewReader(raw))
		want, err := http.ReadResponse(in, post)
		if err != nil {
			t.Fatalf("net/http refuses the response: %v", err)
		}
		body, err := io.ReadAll(want.Body)
		if err != nil || want.Close || want.StatusCode != answer.Status || !bytes.Equal(body, answer.Body) || in.Buffered() != c.reader.Buffered() {
			t.Fatalf("plain returns %d %q with %d bytes left, net/http %d %q with %d (close %t): %v",
				answer.Status, answer.Body, c.reader.Buffered(), want.StatusCode, body, in.Buffered(), want.Close, err)
		}
	})
}

// A response that is not a plain success is left to net/http.
func TestPlain_Rejected(t *testing.T) {
	const length = "Content-Length: 0\r\n"
	for name, head := range map[string]string{
		"an error":                  "HTTP/1.1 500 No\r\n" + length,
		"too many requests":         "HTTP/1.1 429 Slow\r\nRetry-After: 3\r\n" + length,
		"an interim answer":         "HTTP/1.1 103 Early\r\n",
		"HTTP/1.0":                  "HTTP/1.0 200 OK\r\n" + length,
		"no length":                 "HTTP/1.1 200 OK\r\n",
		"two lengths":               "HTTP/1.1 200 OK\r\n" + length + length,
		"a signed length":           "HTTP/1.1 200 OK\r\nContent-Length: +0\r\n",
		"chunks":                    "HTTP/1.1 200 OK\r\n" + length + "Transfer-Encoding: chunked\r\n",
		"the end of a connection":   "HTTP/1.1 200 OK\r\n" + length + "CONNECTION: close\r\n",
		"a folded line":             "HTTP/1.1 200 OK\r\n" + length + " folded: yes\r\n",
		"a space before the colon":  "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n",
		"a bare line feed":          "HTTP/1.1 200 OK\r\n" + strings.TrimSuffix(length, "\r\n") + "\nX: y\r\n",
		"more than has come":        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n",
		"an incomplete head":        "HTTP/1.1 200 OK\r\nContent-Length: 0",
		"a long status":             "HTTP/1.1 2000 OK\r\n" + length,
		"a letter in the status":    "HTTP/1.1 2x0 OK\r\n" + length,
		"a DEL in the status line":  "HTTP/1.1 200 \x7f\r\n" + length,
		"no colon":                  "HTTP/1.1 200 OK\r\nX\r\n" + length,
		"no name":                   "HTTP/1.1 200 OK\r\n: y\r\n" + length,
		"a bracket in a name":       "HTTP/1.1 200 OK\r\nX[: y\r\n" + length,
		"a NUL in a value":          "HTTP/1.1 200 OK\r\nX: \x00\r\n" + length,
		"another number, no length": "HTTP/1.1 200 OK\r\nX-Number-Of-Us: 0\r\n",
		"an upgrade":                "HTTP/1.1 200 OK\r\n" + length + "Upgrade: x\r\n",
		"a trailer":                 "HTTP/1.1 200 OK\r\n" + length + "Trailer: X\r\n",
	} {
		c := newHTTP1Conn(nil, 1024)
		c.reader.Reset(strings.NewReader(head + "\r\n"))
		_, _ = c.reader.Peek(1)
		if _, ok := c.plain(0); ok {
			t.Errorf("%s was accepted as a plain success", name)
		}
	}
}
