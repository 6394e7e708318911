package receiver

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestReadRequest(t *testing.T) {
	tests := []struct{ name, text, id, body, wrong string }{
		{"raw", "POST /hooks HTTP/1.1\r\nHost: x\r\nWebhook-Id: msg_1\r\n\r\n{\"a\":\r\n1}\r\n", "msg_1", "{\"a\":\r\n1}\r\n", ""},
		{"with bare line ends", "POST / HTTP/2\nwebhook-id: msg_1\n\n{}", "msg_1", "{}", ""},
		{"without a request line", "webhook-id: msg_1\r\n\r\n{}", "msg_1", "{}", ""},
		{"an empty line in the body", "webhook-id: msg_1\n\n\n\n{}", "msg_1", "\n\n{}", ""},
		{"in chunks", "webhook-id: msg_1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n", "msg_1", `{"a":1}`, ""},
		{"a chunk that is cut", "webhook-id: msg_1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{", "", "", "chunks"},
		{"no headers", "\n{}", "", "{}", ""},
		{"a line that is none", "webhook-id: msg_1\n{}\n\n", "", "", "read the headers"},
		{"no body", "webhook-id: msg_1\n", "", "", "no empty line"},
		{"nothing", "", "", "", "no empty line"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header, body, err := ReadRequest([]byte(test.text))
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("response %v, want %s", err, test.wrong)
				}
				return
			}
			if err != nil || header.Get("webhook-id") != test.id || string(body) != test.body {
				t.Errorf("%v, %q, %v", header, body, err)
			}
		})
	}
}

func TestReadHeaders(t *testing.T) {
	for _, text := range []string{"webhook-id: msg_1", "POST / HTTP/1.1\r\nWEBHOOK-ID: msg_1\r\n\r\n", "webhook-id: msg_1\n\n{}\n"} {
		header, err := ReadHeaders([]byte(text))
		if err != nil || header.Get("webhook-id") != "msg_1" {
			t.Errorf("%q: %v, %v", text, header, err)
		}
	}
}

// A captured request is printed in a readable form.
func TestEvent_Request(t *testing.T) {
	e := Event{Path: "/hooks?a=b", Header: http.Header{"Webhook-Id": {"msg_1"}}, Sent: []byte("\x1f\x8b\r\n\r\n"), Body: []byte(event)}
	header, got, err := ReadRequest(e.Request())
	if err != nil || header.Get("webhook-id") != "msg_1" || !bytes.Equal(got, e.Sent) {
		t.Errorf("%v, %q, %v", header, got, err)
	}
}

// In any capture, the body is the end, unchanged.
func FuzzReadRequest(f *testing.F) {
	f.Add("POST / HTTP/1.1\r\nwebhook-id: 1\r\n\r\nbody")
	f.Add("a: b\n\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		header, body, err := ReadRequest([]byte(text))
		if err == nil && !strings.EqualFold(header.Get("Transfer-Encoding"), "chunked") && !strings.HasSuffix(text, "\n"+string(body)) {
			t.Errorf("%q has the body %q", text, body)
		}
	})
}
