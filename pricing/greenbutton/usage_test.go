package greenbutton_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/greenbutton"
)

// A file of a made-up utility. Each series is a MeterReading of the usage point 1.
const (
	header   = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:espi="http://naesb.org/espi">`
	pacific  = `<entry><content><espi:LocalTimeParameters><espi:tzOffset>-28800</espi:tzOffset></espi:LocalTimeParameters></content></entry>`
	midnight = 1_782_889_200 // 2026-07-01 00:00 in Los Angeles
)

func readingType(name string, direction, unit, multiplier int) string {
	return fmt.Sprintf(`<entry><link rel="self" href="/ReadingType/%s"/><content><espi:ReadingType>
		<espi:accumulationBehaviour>4</espi:accumulationBehaviour><espi:flowDirection>%d</espi:flowDirection>
		<espi:powerOfTenMultiplier>%d</espi:powerOfTenMultiplier><espi:uom>%d</espi:uom></espi:ReadingType></content></entry>`, name, direction, multiplier, unit)
}

// block is an IntervalBlock of hours from midnight on.
func block(meter string, hours map[int]int) string {
	var s strings.Builder
	fmt.Fprintf(&s, `<entry><link rel="up" href="/UsagePoint/1/MeterReading/%s/IntervalBlock"/><content><espi:IntervalBlock>`, meter)
	for hour, value := range hours {
		fmt.Fprintf(&s, `<espi:IntervalReading><espi:timePeriod><espi:duration>3600</espi:duration><espi:start>%d</espi:start></espi:timePeriod><espi:value>%d</espi:value></espi:IntervalReading>`,
			midnight+3600*hour, value)
	}
	return s.String() + `</espi:IntervalBlock></content></entry>`
}

func meter(name, kind string) string {
	return fmt.Sprintf(`<entry><link rel="self" href="/UsagePoint/1/MeterReading/%s"/><link rel="related" href="/ReadingType/%s"/><content><espi:MeterReading/></content></entry>`, name, kind)
}

func usage(file string) (*greenbutton.Usage, error) {
	r, err := greenbutton.Read(strings.NewReader(file))
	if err != nil {
		return nil, err
	}
	return r.Usage()
}

func TestRead_NetOfBothDirections(t *testing.T) {
	file := header + pacific + readingType("in", 1, 72, 0) + readingType("out", 19, 72, 3) + readingType("volts", 1, 29, 0) +
		meter("a", "in") + meter("b", "out") + meter("c", "volts") +
		block("a", map[int]int{0: 500, 1: 9999}) + block("b", map[int]int{0: 0, 1: 2, 2: 1}) + block("c", map[int]int{0: 240}) +
		block("a", map[int]int{1: 700, 2: 100}) + `</feed>` // the correction of the hour 1 comes later
	u, err := usage(file)
	if err != nil {
		t.Fatal(err)
	}
	day, err := u.Day()
	if err != nil || day != "2026-07-01" || u.Step != time.Hour {
		t.Errorf("it begins on %s, %v, in steps of %s", day, err, u.Step)
	}
	for i, want := range []float64{0.5, -1.3, -0.9} {
		if math.Abs(u.KWh[i]-want) > 1e-9 {
			t.Errorf("step %d is %v kWh, want %v", i, u.KWh[i], want)
		}
	}
}

// A utility may deliver the readings and their type apart.
func TestRead_SeveralFeeds(t *testing.T) {
	u, err := usage(header + block("a", map[int]int{0: 500}) + "</feed>\n\ufeff" + header + readingType("in", 1, 72, 0) + `</feed>`)
	if err != nil || len(u.KWh) != 1 || u.KWh[0] != 0.5 {
		t.Errorf("it reads %+v, %v", u, err)
	}
}

func TestRead_Refuses(t *testing.T) {
	in := readingType("in", 1, 72, 0)
	for name, tt := range map[string]struct{ file, want string }{
		"no XML":               {"a,b\n1,2\n", "no readings of energy"},
		"cut off":              {header + in + block("a", map[int]int{0: 1}), "does not decode"},
		"no type":              {header + block("a", map[int]int{0: 1}) + `</feed>`, "names no ReadingType"},
		"no energy":            {header + readingType("volts", 1, 29, 0) + block("a", map[int]int{0: 1}) + `</feed>`, "no readings of energy"},
		"gas":                  {header + `<entry><content><espi:UsagePoint><espi:ServiceCategory><espi:kind>1</espi:kind></espi:ServiceCategory></espi:UsagePoint></content></entry></feed>`, "service category 1"},
		"an overflow":          {header + in + strings.Replace(block("a", map[int]int{0: 1}), "3600", "20211507185753197", 1) + `</feed>`, "an interval of 20211507185753197 seconds"}, // 512 ns in 64 bits
		"missing intervals":    {header + in + block("a", map[int]int{0: 1, 1: 1, 4: 1}) + `</feed>`, "lacks 2 intervals of 1h0m0s, the first at 2026-07-01T09:00:00Z"},
		"energy twice":         {header + in + block("a", map[int]int{0: 1}) + block("b", map[int]int{0: 1}) + `</feed>`, "twice"},
		"a century of nothing": {header + in + block("a", map[int]int{0: 1, 1_000_000: 1}) + `</feed>`, "lacks 999999 intervals"},
		"document type":        {`<!DOCTYPE feed [<!ENTITY a "aaaa">]>` + header + in + block("a", map[int]int{0: 1}) + `</feed>`, "document type"},
		"deep":                 {header + strings.Repeat("<a>", 40), "nested deeper than 32"},
		"crossed tags":         {header + `<entry><content></entry></content></feed>`, "has no start tag"},
		"no number":            {header + in + strings.Replace(block("a", map[int]int{0: 1}), "<espi:value>1<", "<espi:value>one<", 1) + `</feed>`, `value of a reading must be a whole number, not "one"`},
		"no value":             {header + in + strings.Replace(block("a", map[int]int{0: 1}), "<espi:value>1</espi:value>", "", 1) + `</feed>`, "no duration or no value"},
		"other unit":           {header + readingType("vars", 1, 73, 0) + block("a", map[int]int{0: 1}) + `</feed>`, "no readings of energy"},
		"huge multiplier":      {header + readingType("in", 1, 72, 300) + block("a", map[int]int{0: 1}) + `</feed>`, "powerOfTenMultiplier is 300"},
		"before 2000":          {header + in + block("a", map[int]int{-400_000: 1}) + `</feed>`, "begins at 342889200 seconds"},
		"two types of an address": {header + in + readingType("in", 1, 72, 3) + readingType("b", 1, 72, 0) + readingType("b", 19, 72, 0) +
			meter("a", "in") + block("a", map[int]int{0: 1}) + `</feed>`, `"/ReadingType/in", with powerOfTenMultiplier 0 and 3`},
		"two lengths": {header + in + strings.Replace(block("a", map[int]int{0: 1}), "3600", "900", 1) +
			block("a", map[int]int{1: 1}) + `</feed>`, "15m0s and of 1h0m0s"},
	} {
		if _, err := usage(tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
}

func TestDay_NeedsMidnight(t *testing.T) {
	in := readingType("in", 1, 72, 0)
	for name, file := range map[string]string{
		"no time zone": in + block("a", map[int]int{0: 1}), "at five": pacific + in + block("a", map[int]int{5: 1}),
	} {
		u, err := usage(header + file + `</feed>`)
		if err != nil {
			t.Fatal(err)
		}
		if day, err := u.Day(); err == nil {
			t.Errorf("%s: the first day is %s", name, day)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(header + pacific + readingType("in", 1, 72, 0) + block("a", map[int]int{0: 500, 1: 700}) + `</feed>`))
	f.Fuzz(func(t *testing.T, file []byte) {
		u, err := usage(string(file))
		if err == nil && (len(u.KWh) == 0 || u.Step <= 0) {
			t.Errorf("it reads %+v", u)
		}
		r, err := greenbutton.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		months, err := r.Months(time.UTC)
		for _, m := range months {
			if m.MissingHours < 0 || m.KWh < 0 || m.ExportKWh != nil && *m.ExportKWh < 0 {
				t.Errorf("a month is %+v", m)
			}
		}
		if err == nil && len(months) == 0 {
			t.Error("it has no months")
		}
	})
}
