package send

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/storage"
)

// receiver is a behavior of a receiver, with the wanted outcome.
type receiver struct {
	// script handles each connection. listen, if that is not enough, starts a receiver
	// and returns its URL.
	script func(net.Conn)
	listen func(t *testing.T) (rawURL string)
	// sender is by default one that allows all destinations.
	sender func(t *testing.T) *Sender
	want   policy.Verdict
	// unanswered reports that the attempt ends without a status. reason is a part of the
	// error.
	unanswered bool
	reason     string
	// pause is the shortest delay until the next attempt, if the receiver requests one.
	// noPause says that the request is ignored.
	pause   time.Duration
	noPause bool
	body    []byte // by default testBody
}

// patient and hasty are timeouts of attempts: hasty for those that must time out, patient
// for the others.
const (
	hasty   = 300 * time.Millisecond
	patient = time.Minute
)

// TestReceivers_Kinds sends attempts to receivers with every known behavior.
func TestReceivers_Kinds(t *testing.T) {
	for name, r := range receivers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.try(t)
		})
	}
}

func (r *receiver) try(t *testing.T) {
	listen := r.listen
	if listen == nil {
		listen = func(t *testing.T) string { return "http://" + sink(t, r.script) }
	}
	address := listen(t)
	s := newTestSender(t)
	if r.sender != nil {
		s = r.sender(t)
	}
	e := endpointAt(t, address, patient)
	if strings.Contains(r.reason, "within") {
		e.Timeout = hasty
	}
	body := []byte(testBody)
	if r.body != nil {
		body = r.body
	}
	before := allocated()
	a := postBody(t.Context(), t, s, e, body, 0)
	if grown := int64(allocated()) - int64(before); grown > 64<<20 {
		t.Errorf("the attempt used %d MiB of memory", grown>>20)
	}
	if a.Verdict() != r.want || (a.Status == 0) != r.unanswered || (a.Err != nil) != r.unanswered {
		t.Errorf("verdict %v of %+v, want %v, unanswered %v", a.Verdict(), a, r.want, r.unanswered)
	}
	if a.Err != nil && !strings.Contains(a.Err.Error(), r.reason) {
		t.Errorf("the error is %q, want %q in it", a.Err, r.reason)
	}
	if a.Took >= patient {
		t.Errorf("the attempt took %s, its whole timeout", a.Took)
	}
	if r.want == policy.Delivered && a.Response != "" {
		t.Errorf("the stored part of a success is %q", a.Response)
	}
	due, ok := policy.Next(storage.RetryPolicy{InitialSeconds: 5, Multiplier: 2, MaxSeconds: 900}, 1, a.At, a.At.Add(24*time.Hour), a.RetryAfter, 0)
	if pause := due.Sub(a.At); !ok || pause < r.pause || r.noPause && pause > 0 || pause > policy.MaxRetryAfter {
		t.Errorf("the next attempt would be %s later", pause)
	}
}

// allocated returns the memory in use by the process.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// TestReceivers_Complete compares the table with the list of known behaviors of receivers
// and their outcomes.
func TestReceivers_Complete(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no list of behaviors")
	}
	file, err := os.Open(filepath.Join(dir, "corpora", "sinks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tried, n := receivers(), 0
	for lines := bufio.NewScanner(file); lines.Scan(); n++ {
		var row struct{ Name, Classify string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if test, ok := inTime[row.Name]; ok {
			t.Logf("%s: by %s", row.Name, test)
			continue
		}
		r, ok := tried[row.Name]
		if want := map[string]policy.Verdict{"delivered": policy.Delivered, "retry": policy.Retry, "blocked": policy.Retry, "stop-and-disable-endpoint": policy.Gone}; !ok || want[row.Classify] != r.want {
			t.Errorf("%s, which ends in %s: got %v, with %v", row.Name, row.Classify, ok, r.want)
		}
	}
	if n < 79 {
		t.Errorf("the list has %d behaviors", n)
	}
}

// inTime are the behaviors that take several attempts, and the tests that let time pass.
var inTime = map[string]string{
	"alternates 200/500":    "TestReceivers_OverTime",
	"down for 60 s then up": "TestReceivers_OverTime",
	"slow neighbour":        "TestReceivers_OverTime", //nolint:misspell // the name of the case in the data
}

// receivers are the behaviors, with the verdict of each.
func receivers() map[string]receiver {
	all := map[string]receiver{}
	for _, status := range []int{200, 201, 202, 299} {
		all[fmt.Sprint(status)] = receiver{script: answering(fmt.Sprintf("HTTP/1.1 %d Fine\r\nContent-Length: 2\r\n\r\nok", status)), want: policy.Delivered}
	}
	for _, status := range []int{
		400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 425, 451, 500, 501, 502, 503, 504, 507, 511, 520,
	} {
		all[fmt.Sprint(status)] = receiver{script: answering(fmt.Sprintf("HTTP/1.1 %d No\r\nContent-Length: 4\r\n\r\noops", status)), want: policy.Retry, noPause: true}
	}
	for _, status := range []int{300, 301, 302, 303, 307, 308, 304} {
		all[fmt.Sprintf("%d + Location internal", status)] = receiver{listen: pointingInside(status), want: policy.Retry}
	}
	for _, more := range []map[string]receiver{plainReceivers(), floods(), pauses(), silences(), tlsReceivers(), http2Receivers(), namedReceivers()} {
		for name, r := range more {
			all[name] = r
		}
	}
	return all
}

// pointingInside responds with a redirect to a forbidden destination.
func pointingInside(status int) func(*testing.T) string {
	return func(t *testing.T) string {
		inside := sink(t, func(net.Conn) { t.Error("the redirect was followed") })
		return "http://" + sink(t, answering(fmt.Sprintf("HTTP/1.1 %d Away\r\nLocation: http://%s/\r\nContent-Length: 0\r\n\r\n", status, inside)))
	}
}

// plainReceivers respond, or break the connection.
func plainReceivers() map[string]receiver {
	return map[string]receiver{
		"204":                      {script: answering("HTTP/1.1 204 No Content\r\n\r\n"), want: policy.Delivered},
		"410":                      {script: answering("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"), want: policy.Gone},
		"500, reset in the body":   {script: func(c net.Conn) { answering("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf")(c); reset(c) }, want: policy.Retry},
		"200, broken chunks":       {script: answering(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), want: policy.Delivered},
		"Set-Cookie":               {script: answering(ok + "Set-Cookie: session=x\r\nContent-Length: 0\r\n\r\n"), want: policy.Delivered}, // TestSend_Request checks the next request
		"WWW-Authenticate":         {script: answering("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"), want: policy.Retry},
		"body with ESC/CRLF/NUL":   {script: answering(ok + "Content-Length: 8\r\n\r\n\x1b[31m\r\n\x00"), want: policy.Delivered},
		"body with secrets echoed": {script: answering(ok + "Content-Length: 49\r\n\r\nwebhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ"), want: policy.Delivered},
		"200 then RST before body end": {script: func(c net.Conn) {
			answering(ok + "Content-Length: 100\r\n\r\n0123456789")(c)
			reset(c)
		}, want: policy.Delivered},
		"accept then RST":               {script: reset, want: policy.Retry, unanswered: true},
		"RST in the middle of the body": {script: func(c net.Conn) { _, _ = io10(c); reset(c) }, want: policy.Retry, unanswered: true},
		"ack lost":                      {script: func(c net.Conn) { _ = readRequest(c) }, want: policy.Retry, unanswered: true}, // checkMessages checks that its webhook-id stays
		"garbage instead of HTTP":       {script: answering("SSH-2.0-OpenSSH_9.6\r\n"), want: policy.Retry, unanswered: true, reason: "malformed"},
		"HTTP/0.9":                      {script: answering("<html>hello</html>\n"), want: policy.Retry, unanswered: true, reason: "malformed"},
		"HTTP/1.1 000":                  {script: answering("HTTP/1.1 000 What\r\n\r\n"), want: policy.Retry, unanswered: true},
		"HTTP/1.1 99999":                {script: answering("HTTP/1.1 99999 What\r\n\r\n"), want: policy.Retry, unanswered: true, reason: "malformed"},
		"another protocol":              {script: answering("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), want: policy.Retry, unanswered: true, reason: "protocol"},
		"a header with a null in it":    {script: answering(ok + "X: a\x00b\r\nContent-Length: 0\r\n\r\n"), want: policy.Retry, unanswered: true, reason: "malformed"},
	}
}

// io10 reads the first bytes of a request.
func io10(c net.Conn) (int, error) { return c.Read(make([]byte, 10)) }

// floods send more than the limits.
func floods() map[string]receiver {
	chunk := "1000\r\n" + strings.Repeat("x", 4096) + "\r\n"
	bomb := bomb()
	return map[string]receiver{
		"header 1 MiB":               {script: answering(ok + "X-Long: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), want: policy.Retry, unanswered: true, reason: "headers"},
		"10,000 headers":             {script: answering(ok + strings.Repeat("X-Y: z\r\n", 10_000) + "\r\n"), want: policy.Retry, unanswered: true, reason: "headers"},
		"endless headers":            {script: endlessly(ok, "X-Y: z\r\n"), want: policy.Retry, unanswered: true, reason: "headers"},
		"endless 100-continue / 103": {script: endlessly("", "HTTP/1.1 103 Early Hints\r\n\r\n"), want: policy.Retry, unanswered: true, reason: "interim"},
		"endless chunked body":       {script: endlessly(ok+"Transfer-Encoding: chunked\r\n\r\n", chunk), want: policy.Delivered},
		"gzip bomb":                  {script: answering(ok + "Content-Encoding: gzip\r\nContent-Length: " + fmt.Sprint(len(bomb)) + "\r\n\r\n" + bomb), want: policy.Delivered},
	}
}

// pauses request a delay.
func pauses() map[string]receiver {
	asking := func(status, headers string) func(net.Conn) {
		return answering("HTTP/1.1 " + status + "\r\n" + headers + "\r\nContent-Length: 0\r\n\r\n")
	}
	return map[string]receiver{
		"429 Retry-After: 7": {script: asking("429 Slow", "Retry-After: 7"), want: policy.Retry, pause: 7 * time.Second},
		"503 Retry-After: HTTP-date": {script: func(c net.Conn) {
			asking("503 Slow", "Retry-After: "+time.Now().Add(time.Minute).UTC().Format("Mon, 02 Jan 2006 15:04:05")+" GMT")(c)
		}, want: policy.Retry, pause: 30 * time.Second}, // the date is a minute ahead
		"429 Retry-After: -5":        {script: asking("429 Slow", "Retry-After: -5"), want: policy.Retry, noPause: true},
		"429 Retry-After: 999999999": {script: asking("429 Slow", "Retry-After: 999999999"), want: policy.Retry, pause: policy.MaxRetryAfter},
		"429 Retry-After: soon":      {script: asking("429 Slow", "Retry-After: soon"), want: policy.Retry, noPause: true},
		"503 Retry-After twice":      {script: asking("503 Slow", "Retry-After: 3\r\nRetry-After: 5"), want: policy.Retry, pause: 3 * time.Second},
	}
}

// silences respond late or never.
func silences() map[string]receiver {
	return map[string]receiver{
		"accept, never read":            {listen: holding, want: policy.Retry, unanswered: true, reason: "within 300ms", body: make([]byte, 16<<20)},
		"accept, never answer":          {script: hang, want: policy.Retry, unanswered: true, reason: "within 300ms"},
		"1 byte/s status line":          {script: drip("HTTP/1.1 200 OK  "), want: policy.Retry, unanswered: true, reason: "within 300ms"},
		"1 byte/s headers":              {script: func(c net.Conn) { answering(ok)(c); drip("X-Y: z\r\n")(c) }, want: policy.Retry, unanswered: true, reason: "within 300ms"},
		"200 head, body drips for ever": {script: func(c net.Conn) { answering(ok + "\r\n")(c); drip("x")(c) }, want: policy.Delivered},
		"blackhole":                     {listen: fullBacklog, want: policy.Retry, unanswered: true, reason: "within 300ms"},
		"SYN accepted after 20 s":       {listen: fullBacklog, want: policy.Retry, unanswered: true, reason: "within 300ms"},
		"connection refused":            {listen: closedPort, want: policy.Retry, unanswered: true, reason: "refused"},
	}
}

// holding keeps connections open without reading from them.
func holding(t *testing.T) string {
	return "http://" + sink(t, func(net.Conn) { <-t.Context().Done() })
}

// closedPort returns a port without a listener.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
