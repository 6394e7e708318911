package greenbutton_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/greenbutton"
)

// year returns a file with quarter hours of a year, as utilities format them.
func year() []byte {
	var s strings.Builder
	s.WriteString(header + pacific + readingType("in", 1, 72, 0))
	s.WriteString(`<entry><link rel="up" href="/UsagePoint/1/MeterReading/a/IntervalBlock"/><content><espi:IntervalBlock>`)
	for i := range 365 * 96 {
		fmt.Fprintf(&s, `
      <espi:IntervalReading>
        <espi:timePeriod>
          <espi:duration>900</espi:duration>
          <espi:start>%d</espi:start>
        </espi:timePeriod>
        <espi:value>%d</espi:value>
      </espi:IntervalReading>`, midnight+900*i, 100+i%96*5)
	}
	s.WriteString(`</espi:IntervalBlock></content></entry></feed>`)
	return []byte(s.String())
}

// BenchmarkMonths reads a year of quarter hours.
func BenchmarkMonths(b *testing.B) {
	file := year()
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r, err := greenbutton.Read(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		if months, err := r.Months(zone); err != nil || len(months) != 12 {
			b.Fatal(len(months), err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "homes/s")
}
