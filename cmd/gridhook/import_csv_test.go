package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestReadCSV_OpenQuote: a quote that is never closed is reported with its line.
func TestReadCSV_OpenQuote(t *testing.T) {
	var chunks []chunk
	var wrong []fileError
	err := readCSV(strings.NewReader("id,name\nhome-1,\"Lake\nhome-2,Hill\n"), "acme", collect(&chunks), func(e fileError) { wrong = append(wrong, e) })
	if err != nil || len(chunks) != 0 || len(wrong) != 1 || wrong[0].Line != 2 || !strings.Contains(wrong[0].Fields[0].Message, "quote") {
		t.Errorf("an open quote: %v, %+v", err, wrong)
	}
}

// FuzzReadCSV reads any file: what is sent is JSON of homes, a line each, and each
// row is sent or left out under a number of its own.
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
				t.Errorf("%q: the row at line %d, again or before the header ended", input, number)
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
