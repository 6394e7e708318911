package market_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gridhook/gridhook/pricing/market"
)

const twoPrices = "start,node,market,price,unit\n2026-07-01T00:00:00Z,N,DAM,30,$/MWh\n\n2026-07-01T01:00:00Z,N,DAM,31,$/MWh\n"

// A row that never ends stops the reading, whether it is CSV or JSON.
func TestReadFrom_LongRow(t *testing.T) {
	for name, test := range map[string]struct{ begin, line, says string }{
		"open quote":      {twoPrices + "\"", "2026-07-01\n", "after line 4: a row is longer than 1048576 bytes: look for an unclosed quote"},
		"header":          {"\"start", "2026-07-01\n", "a row is longer than 1048576 bytes"},
		"line of JSON":    {"{\"price\":1}\n{\"node\":\"", "x", "after line 1: a row is longer than 1048576 bytes"},
		"no line at all":  {"", "x", "a row is longer than 1048576 bytes"},
		"byte order mark": {"\ufeff" + twoPrices + "\"", "\n", "after line 4: a row is longer than 1048576 bytes"},
	} {
		rest := strings.NewReader(strings.Repeat(test.line, 8<<20/len(test.line)))
		_, err := market.Read(io.MultiReader(strings.NewReader(test.begin), rest), market.Options{}, func(market.LineError) {})
		if !errors.Is(err, market.ErrFile) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", name, err, test.says)
		}
		if read := rest.Size() - int64(rest.Len()); read > 2<<20 {
			t.Errorf("%s: read %d bytes of the row", name, read)
		}
	}
}

// A file in pieces has the same series, and an error of the reader is returned.
func TestReadFrom_Pieces(t *testing.T) {
	json := `{"start":"2026-07-01T00:00:00Z","node":"N","market":"DAM","price":30,"unit":"$/MWh"}` + "\n"
	for name, test := range map[string]struct {
		file   string
		points int
	}{"CSV": {twoPrices, 2}, "CSV with a byte order mark": {"\ufeff" + twoPrices, 2}, "NDJSON": {"\ufeff \n" + json, 1}} {
		all, err := market.Read(iotest.OneByteReader(strings.NewReader(test.file)), market.Options{}, func(e market.LineError) { t.Error(name, e) })
		if err != nil || len(all) != 1 || len(all[0].Points()) != test.points {
			t.Errorf("%s: %d series, %v", name, len(all), err)
		}
		broken := io.MultiReader(strings.NewReader(test.file), iotest.ErrReader(io.ErrUnexpectedEOF))
		if _, err := market.Read(broken, market.Options{}, func(e market.LineError) { t.Error(name, e) }); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: a broken file: %v", name, err)
		}
	}
}
