package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/gridhook/gridhook/pricing/market"
)

// TestReadCSV_OpenQuote checks that an unclosed quote ends the import, and that the rest
// of the file does not become one cell in memory.
func TestReadCSV_OpenQuote(t *testing.T) {
	file := &counted{r: io.MultiReader(strings.NewReader("id,name\nhome-1,\"Lake\n"), strings.NewReader(strings.Repeat("home-2,Hill\n", 1<<20)))}
	var chunks []chunk
	err := readCSV(file, "acme", collect(&chunks), func(fileError) {})
	if err == nil || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "quote") {
		t.Errorf("an open quote: %v", err)
	}
	if file.n.Load() > 2*market.MaxRow {
		t.Errorf("read %d bytes of a file whose second row never ends", file.n.Load())
	}
}

// counted counts the bytes read. A command reads its input in another goroutine.
type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// FuzzReadCSV reads any file. The command sends one JSON line per home, and each row is
// either sent or reported under its own number.
func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{
		"id,name\nhome-1,Lake\n", "\ufeffid,enabled\r\na,TRUE\r\nb,perhaps\r\n", "id\n\"a\nb\"\nc,d\n", "id,id\n", "", "id\n\xff\n", "id,\"name\nx",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var chunks []chunk
		seen := map[int]bool{}
		note := func(number int) {
			if seen[number] || number < 2 {
				t.Errorf("%q: the row at line %d is repeated or before the header's end", input, number)
			}
			seen[number] = true
		}
		err := readCSV(bytes.NewReader(input), "acme", collect(&chunks), func(e fileError) { note(e.Line) })
		if err != nil {
			return // the header is wrong, and nothing was sent
		}
		for _, c := range chunks {
			lines := bytes.Split(bytes.TrimSuffix(c.body.Bytes(), []byte("\n")), []byte("\n"))
			if len(lines) != len(c.numbers) {
				t.Fatalf("%q: %d lines under %d numbers", input, len(lines), len(c.numbers))
			}
			for i, line := range lines {
				note(c.numbers[i])
				var home struct{ Resource string }
				if err := json.Unmarshal(line, &home); err != nil || home.Resource != "home" {
					t.Errorf("%q: sent %q: %v", input, line, err)
				}
			}
		}
	})
}

// TestImport_ReadError checks that the lines before a row that is too long, or before a read
// error, are imported, and that the summary counts them.
func TestImport_ReadError(t *testing.T) {
	long := "id\nh1\n\"" + strings.Repeat("x", 2*market.MaxRow)
	for name, test := range map[string]struct {
		format string
		in     io.Reader
		says   string
	}{
		"long row":    {"csv", strings.NewReader(long), "gridhook: -: the row after line 2 is longer than"},
		"CSV broken":  {"csv", io.MultiReader(strings.NewReader("id\nh1\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), "gridhook: -: unexpected EOF\n"},
		"JSON broken": {"ndjson", io.MultiReader(strings.NewReader(`{"resource":"home","id":"h1"}`+"\n{"), iotest.ErrReader(io.ErrUnexpectedEOF)), "gridhook: -: unexpected EOF\n"},
	} {
		f := newFake(t)
		f.on("/v1/admin/import", imported(1, 1, 0, ""))
		got := runWith(t, f, "", []string{"import", "--org", "acme", "--format", test.format, "-"}, func(g *globals) { g.in = test.in })
		if got.code != exitFailure || !strings.HasPrefix(got.err, test.says) || !strings.HasPrefix(got.out, "1 line: 1 created") {
			t.Errorf("%s: exit %d, %s; it shows\n%s", name, got.code, got.err, got.out)
		}
		if len(f.requests) != 1 || strings.Count(f.last().body, `"id":"h1"`) != 1 {
			t.Errorf("%s: it sent %+v", name, f.requests)
		}
	}
}
