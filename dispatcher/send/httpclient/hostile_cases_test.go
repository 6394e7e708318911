package httpclient

import (
	"fmt"
	"strings"
)

const (
	fine      = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	noContent = "HTTP/1.1 204 No Content\r\n\r\n"
	refused   = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
	timedOut  = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

// hostiles are the receivers of the suite.
func hostiles() []hostile {
	list := append(unsolicited(), early()...)
	list = append(list, malformed()...)
	list = append(list, cutOff()...)
	return append(list, overTLS()...)
}

// unsolicited receivers send data without a request.
func unsolicited() []hostile {
	whileIdle := func(name, first string, then ...step) hostile {
		steps := append([]step{do(read), send(first), do(idle)}, then...)
		return hostile{name: name, steps: steps}
	}
	atOnce := func(name string, texts string) hostile {
		return hostile{name: name, steps: []step{do(read), send(texts)}}
	}
	return []hostile{
		whileIdle("408 on an idle connection", fine, send(timedOut)),
		whileIdle("408 on an idle connection and its end", fine, send(timedOut), do(closing)),
		whileIdle("extra response while idle", refused, send(fine)),
		whileIdle("garbage while idle", fine, send("\x00garbage")),
		whileIdle("one byte while idle", fine, send("H")),
		whileIdle("a line break while idle", fine, send("\r\n")),
		whileIdle("204 with a late body", noContent, send("late body")),
		whileIdle("304 with a late body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", send("late body")),
		whileIdle("a longer body than announced, late", fine, send("and more")),
		whileIdle("an interim response while idle", fine, send("HTTP/1.1 100 Continue\r\n\r\n")),
		whileIdle("the connection closed while idle", fine, do(closing)),
		whileIdle("the connection reset while idle", fine, do(reset)),
		whileIdle("the connection half closed while idle", fine, do(half)),
		whileIdle("a response and the end of the direction while idle", refused, send(fine), do(half)),
		atOnce("two responses at once", refused+fine),
		atOnce("three responses at once", fine+fine+fine),
		atOnce("204 with a body at once", noContent+"body"),
		atOnce("204 with a length and a body", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody"),
		atOnce("204 with chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		atOnce("a longer body than announced", fine+"and more"),
		atOnce("chunks and more", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nmore"),
		atOnce("a line break after the response", fine+"\r\n"),
		{name: "a response that fills the buffer and another", steps: []step{do(read), send(filling("HTTP/1.1 500 No\r\n", 4096) + fine)}},
	}
}

// filling is a response of a length in bytes.
func filling(status string, length int) string {
	head := status + "Content-Length: %04d\r\n\r\n"
	body := length - len(fmt.Sprintf(head, 0))
	return fmt.Sprintf(head, body) + strings.Repeat("x", body)
}

// early receivers respond before they have read the request.
func early() []hostile {
	const large = 16 << 20 // more than the systems' buffers take
	return []hostile{
		{name: "a success before the body is read", body: large, steps: []step{do(readByte), send(fine), do(hang)}},
		{name: "a refusal before the body is read", body: large, steps: []step{do(readByte), send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), do(hang)}},
		{name: "a refusal before the body is read and the end", body: large, single: true, steps: []step{do(readByte), send("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n"), do(half), do(hang)}},
		{name: "an interim response before the body is read", steps: []step{do(readByte), send("HTTP/1.1 100 Continue\r\n\r\n"), do(closing)}, single: true},
		{name: "no response and the end before the body is read", body: large, single: true, steps: []step{do(readByte), do(closing)}},
	}
}

// malformed receivers send responses that are not well formed, or too long.
func malformed() []hostile {
	var list []hostile
	for name, text := range map[string]string{
		"a short length":               "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok",
		"a negative length":            "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
		"a signed length":              "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
		"a hexadecimal length":         "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok",
		"an empty length":              "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
		"a huge length":                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
		"a length in a list":           "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
		"a duplicate length":           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
		"conflicting lengths":          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 0\r\n\r\nok",
		"a length and chunks":          "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"an unknown transfer encoding": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: rot13\r\n\r\nok",
		"two transfer encodings":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"a bad chunk size":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n",
		"a negative chunk size":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
		"a huge chunk size":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok\r\n0\r\n\r\n",
		"a chunk that is too long":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nok\r\n0\r\n\r\n",
		"chunk extensions":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\n\r\n",
		"trailers":                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
		"a trailer with a length":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
		"a malformed trailer":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n",
		"an endless trailer":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", 20_000) + "\r\n",
		"no status":                    "HTTP/1.1\r\n\r\n",
		"a short status":               "HTTP/1.1 20 OK\r\n\r\n",
		"a long status":                "HTTP/1.1 2000 OK\r\n\r\n",
		"a negative status":            "HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n",
		"a status of zero":             "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
		"a status below 100":           "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n" + fine,
		"HTTP/0.9":                     "ok",
		"HTTP/1.0":                     "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 kept alive":          "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/2.0":                     "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/9.9":                     "HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"the end announced":            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"the end announced in a list":  "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok",
		"a folded header":              "HTTP/1.1 200 OK\r\nX: y\r\n Content-Length: 0\r\nContent-Length: 2\r\n\r\nok",
		"a space before the colon":     "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
		"no colon":                     "HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\nok",
		"bare line feeds":              "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
		"a NUL in a header":            "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok",
		"a carriage return in a value": "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\nok",
		"another protocol":             "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"SSH":                          "SSH-2.0-OpenSSH_9.6\r\n\r\n",
		"frames of HTTP/2":             "\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"one interim response":         "HTTP/1.1 103 Early Hints\r\n\r\n" + fine,
		"an interim response and body": "HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\nbody" + fine,
		"a flood of interim responses": strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20_000) + fine,
		"an endless header":            "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 1<<20),
		"endless headers":              "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 200_000),
		"an endless status line":       "HTTP/1.1 200 " + strings.Repeat("OK", 1<<20),
		"endless line breaks":          strings.Repeat("\r\n", 200_000),
		"a long body":                  "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000),
	} {
		list = append(list, hostile{name: name, steps: []step{do(read), send(text), do(half)}})
		if !unfinished[name] {
			list = append(list, hostile{name: name + ", and the connection stays", steps: []step{do(read), send(text)}})
		}
	}
	return list
}

// unfinished responses have a client wait for more until the connection ends.
var unfinished = map[string]bool{"a space before the colon": true, "HTTP/0.9": true, "frames of HTTP/2": true}

// cutOff receivers end or reset the connection at every byte of a response.
func cutOff() []hostile {
	var list []hostile
	for name, text := range map[string]string{
		"a length":    fine,
		"chunks":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"no length":   "HTTP/1.1 200 OK\r\n\r\nok",
		"an interim":  "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
		"two at once": "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" + fine,
	} {
		for n := range len(text) + 1 {
			list = append(list,
				hostile{name: fmt.Sprintf("%s closed at byte %d", name, n), steps: []step{do(read), send(text[:n]), do(closing)}},
				hostile{name: fmt.Sprintf("%s reset at byte %d", name, n), steps: []step{do(read), send(text[:n]), do(reset)}})
		}
	}
	return list
}

// overTLS receivers send data without a request over TLS, and TLS's own messages.
func overTLS() []hostile {
	list := []hostile{
		{name: "TLS session ticket while idle", keeps: true, steps: []step{do(read), send(fine), do(idle), do(ticket)}},
		{name: "TLS key update while idle", keeps: true, steps: []step{do(read), send(fine), do(idle), do(keyUpdate)}},
		{name: "TLS key updates and tickets while idle", keeps: true, steps: []step{do(read), send(fine), do(idle), do(ticket), do(keyUpdate), do(ticket), do(keyUpdate)}},
		{name: "TLS session ticket and a response while idle", steps: []step{do(read), send(refused), do(idle), do(ticket), send(fine)}},
		{name: "TLS response in the next record", steps: []step{do(read), send(refused, fine)}},
		{name: "TLS response in the same record, the buffer full", steps: []step{do(read), send(filling("HTTP/1.1 500 No\r\n", 4096) + fine)}},
		{name: "TLS response in the next record, the buffer full", steps: []step{do(read), send(filling("HTTP/1.1 500 No\r\n", 4096), fine)}},
	}
	for _, h := range unsolicited() {
		h.name, h.tls = "TLS "+h.name, true
		list = append(list, h)
	}
	for i := range list {
		list[i].tls = true
	}
	return list
}
