package httpclient

import (
	"testing"
	"time"
)

// fragments are what generated receivers write.
var fragments = []string{
	fine, refused, noContent, timedOut, honest,
	"HTTP/1.1 200 OK\r\n", "HTTP/1.1 500 No\r\n", "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 ",
	"Content-Length: 2\r\n", "Content-Length: 0\r\n", "Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n",
	"Trailer: X\r\n", "X: y\r\n", "\r\n", "\n", "ok", "2\r\nok\r\n", "0\r\n\r\n", "0\r\n", "\x00", ":", " ",
}

// script makes a receiver of bytes. An idle step is followed by something that reaches
// the client.
func script(data []byte, secure bool) *hostile {
	const longest = 24
	h := &hostile{name: "generated", tls: secure, steps: []step{do(read)}}
	for _, b := range data[:min(len(data), longest)] {
		switch n := int(b); {
		case n < 8*len(fragments) && n < 224:
			h.write(fragments[n%len(fragments)], n/len(fragments)%2 == 0)
		case n < 232:
			h.steps = append(h.steps, do(idle), send(fragments[n%8]))
		case n < 240:
			h.steps = append(h.steps, do(read))
		case n < 244:
			h.steps = append(h.steps, do(half))
		case n < 248 && secure:
			h.steps = append(h.steps, do([]stepKind{ticket, keyUpdate}[n%2]))
		case n < 252:
			h.steps = append(h.steps, do(reset))
		default:
			h.steps = append(h.steps, do(closing))
		}
	}
	return h
}

// write adds a text, to the previous write or as another.
func (h *hostile) write(text string, joined bool) {
	last := &h.steps[len(h.steps)-1]
	switch {
	case last.kind != write:
		h.steps = append(h.steps, send(text))
	case joined:
		last.texts[len(last.texts)-1] += text
	default:
		last.texts = append(last.texts, text)
	}
}

// FuzzClient_HostileServer compares this client and net/http as TestClient_HostileServers
// does, with generated receivers.
func FuzzClient_HostileServer(f *testing.F) {
	f.Add([]byte{0}, false)
	f.Add([]byte{0, 224, 235, 1}, false)
	f.Add([]byte{2, 21, 225, 235}, true)
	f.Add([]byte{0, 244, 245, 224}, true)
	f.Add([]byte{5, 11, 19, 21, 0, 250}, false)
	f.Add([]byte{1, 28, 230, 248}, true)
	f.Add([]byte{8, 5, 14, 19, 22, 23, 253}, false)
	f.Add([]byte{0, 244, 198}, true)
	certificate := certify()
	f.Fuzz(func(t *testing.T, data []byte, secure bool) {
		h := script(data, secure)
		const hasty, patient = 50 * time.Millisecond, 2 * time.Second
		ours := h.runOurs(t, &certificate, hasty)
		if compare(ours, h.runNetHTTP(t, &certificate, hasty)) == "" {
			return
		}
		// What follows a ticket is another write to the network. It may arrive after the check
		// before the next request, a race that net/http has too. So a fault must show again.
		laxer := h.laxer(t, ours, &certificate, patient)
		if laxer != "" {
			laxer = h.laxer(t, h.runOurs(t, &certificate, patient), &certificate, patient)
		}
		if laxer != "" {
			t.Errorf("%s\n%+v", laxer, h.steps)
		}
	})
}
