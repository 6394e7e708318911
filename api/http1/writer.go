package http1

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// writer is an http.ResponseWriter that keeps the answer until it is sent.
type writer struct {
	header http.Header
	status int
	head   bytes.Buffer
	body   bytes.Buffer
	pieces [2][]byte
	out    net.Buffers
}

// keptWriter is the most memory that an answer leaves to those after it, in bytes.
const keptWriter = 64 << 10

var writers = sync.Pool{New: func() any { return &writer{header: http.Header{}} }}

func (w *writer) done() {
	if w.body.Cap()+w.head.Cap() > keptWriter {
		return
	}
	clear(w.header)
	w.head.Reset()
	w.body.Reset()
	w.status, w.pieces, w.out = 0, [2][]byte{}, nil
	writers.Put(w)
}

func (w *writer) Header() http.Header { return w.header }

// written are the headers that the server decides.
var written = map[string]bool{"Content-Length": true, "Date": true, "Transfer-Encoding": true}

func (w *writer) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK {
		return // an interim answer is not sent
	}
	w.status = status
	w.head.WriteString("HTTP/1.1 ")
	w.head.WriteString(strconv.Itoa(status))
	w.head.WriteByte(' ')
	w.head.WriteString(http.StatusText(status))
	w.head.WriteString(newline)
	_ = w.header.WriteSubset(&w.head, written) // a buffer takes all
}

func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// closes reports whether the handler has said that this is the last answer.
func (w *writer) closes() bool { return w.header.Get("Connection") == "close" }

// send sends the answer, which may be the connection's last.
func (w *writer) send(conn net.Conn, last bool) error {
	w.WriteHeader(http.StatusOK)
	if last && !w.closes() {
		w.head.WriteString("Connection: close\r\n")
	}
	w.head.WriteString("Date: ")
	w.head.WriteString(date(time.Now()))
	if w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		w.body.Reset()
	} else {
		w.head.WriteString("\r\nContent-Length: ")
		w.head.WriteString(strconv.Itoa(w.body.Len()))
	}
	w.head.WriteString(newline + newline)
	w.pieces = [2][]byte{w.head.Bytes(), w.body.Bytes()}
	w.out = w.pieces[:]
	_, err := w.out.WriteTo(conn)
	return err
}

type second struct {
	unix int64
	text string
}

var dated atomic.Pointer[second]

// date is the time as it stands in a header. It is that of a whole second, and so
// written once in each.
func date(now time.Time) string {
	if last := dated.Load(); last != nil && last.unix == now.Unix() {
		return last.text
	}
	text := now.UTC().Format(http.TimeFormat)
	dated.Store(&second{now.Unix(), text})
	return text
}
