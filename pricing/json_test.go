package pricing_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// decodedSignal is the price signal as a receiver declares it.
type decodedSignal struct {
	HomeID    string            `json:"homeId"`
	StartTime time.Time         `json:"startTime"`
	EndTime   time.Time         `json:"endTime"`
	Data      []decodedInterval `json:"data"`
	Prices    []float64         `json:"prices"`
	Export    []float64         `json:"export"`
	Import    []float64         `json:"import"`
	Metadata  decodedMetadata   `json:"metadata"`
}

type decodedInterval struct {
	StartTime  time.Time `json:"startTime"`
	EndTime    time.Time `json:"endTime"`
	Price      float64   `json:"price"`
	Import     float64   `json:"import"`
	Export     float64   `json:"export"`
	Confidence float64   `json:"confidence"`
}

type decodedMetadata struct {
	ExportCompensation struct {
		Type          pricing.CompensationType `json:"type"`
		Source        string                   `json:"source"`
		Description   string                   `json:"description"`
		RatePlanID    *string                  `json:"ratePlanId"`
		EffectiveFrom *pricing.Date            `json:"effectiveFrom"`
		EffectiveTo   *pricing.Date            `json:"effectiveTo"`
	} `json:"exportCompensation"`
	ImportSource string    `json:"importSource"`
	GeneratedAt  time.Time `json:"generatedAt"`
	Sequence     uint64    `json:"sequence"`
}

func decode(t *testing.T, data []byte) decodedSignal {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var s decodedSignal
	if err := decoder.Decode(&s); err != nil {
		t.Fatalf("the signal is not JSON as documented: %v\n%.300s", err, data)
	}
	return s
}

func TestSignalJSON_RoundTrip(t *testing.T) {
	location := zone(t, "America/Los_Angeles")
	in := pricing.Input{Tariff: selling("Net Billing Hourly", 0.1096, -0.05819).Parse(t), Location: location}
	for _, w := range []pricing.Window{
		localDay(location, 2026, time.March, 8),
		localDay(location, 2026, time.November, 1),
		window("2028-02-28T23:45:00Z", "2028-03-01T00:15:00Z"),
		window("2026-12-31T22:30:00Z", "2027-01-01T01:00:00Z"),
	} {
		c := price(t, in, w)
		s := decode(t, signal(c))
		if s.HomeID != "home_1" || !s.StartTime.Equal(w.Start) || !s.EndTime.Equal(w.End) {
			t.Fatalf("got home %s from %v to %v", s.HomeID, s.StartTime, s.EndTime)
		}
		if len(s.Data) != w.Len() || len(s.Prices) != w.Len() || len(s.Import) != w.Len() || len(s.Export) != w.Len() {
			t.Fatalf("%d, %d, %d and %d entries for %d intervals", len(s.Data), len(s.Prices), len(s.Import), len(s.Export), w.Len())
		}
		next := w.Start
		for i, d := range s.Data {
			want := decodedInterval{next, next.Add(15 * time.Minute), c.Price[i], c.Import[i], c.Export[i], c.Confidence[i]}
			if d != want {
				t.Fatalf("interval %d: got %+v, want %+v", i, d, want)
			}
			if s.Prices[i] != d.Price || s.Import[i] != d.Import || s.Export[i] != d.Export {
				t.Fatalf("interval %d: the arrays differ from data", i)
			}
			next = d.EndTime
		}
		if !next.Equal(w.End) {
			t.Errorf("the intervals end at %v, the window at %v", next, w.End)
		}
	}
}

func TestSignalJSON_Stable(t *testing.T) {
	w := window("2026-06-30T20:00:00Z", "2026-07-02T20:00:00Z")
	first := price(t, pricing.Input{Tariff: jacksonEMC().Parse(t), Location: zone(t, "America/New_York")}, w)
	encoded := signal(first)
	s := decode(t, encoded)
	second := &pricing.Curve{
		Window: pricing.Window{Start: s.StartTime, End: s.EndTime},
		Import: s.Import, Export: s.Export, Price: s.Prices,
		ImportSource: s.Metadata.ImportSource,
		ExportCompensation: pricing.ExportCompensation{
			Type: s.Metadata.ExportCompensation.Type, Source: s.Metadata.ExportCompensation.Source,
			Description: s.Metadata.ExportCompensation.Description, EffectiveFrom: *s.Metadata.ExportCompensation.EffectiveFrom,
		},
	}
	for _, d := range s.Data {
		second.Confidence = append(second.Confidence, d.Confidence)
	}
	again := encode(s.HomeID, second, *s.Metadata.ExportCompensation.RatePlanID, s.Metadata.GeneratedAt, s.Metadata.Sequence)
	if !bytes.Equal(encoded, again) {
		t.Errorf("decoding and encoding again changed the signal\n%s\n%s", encoded, again)
	}
}

// The exact text is the contract with receivers that sign or compare it.
func TestSignalJSON_Text(t *testing.T) {
	c := price(t, pricing.Input{Tariff: selling("", 0.1, 0.2).Parse(t), Location: time.UTC}, window("2026-01-05T11:45:00Z", "2026-01-05T12:15:00Z"))
	got := string(pricing.AppendSignal([]byte("x"), "h", c.AppendShared(nil, ""), now, 0))
	want := `x"homeId":"h","startTime":"2026-01-05T11:45:00.000Z","endTime":"2026-01-05T12:15:00.000Z","data":[` +
		`{"startTime":"2026-01-05T11:45:00.000Z","endTime":"2026-01-05T12:00:00.000Z","price":0.30134,"import":0.30134,"export":0.1,"confidence":1},` +
		`{"startTime":"2026-01-05T12:00:00.000Z","endTime":"2026-01-05T12:15:00.000Z","price":0.08364,"import":0.08364,"export":0.2,"confidence":1}],` +
		`"prices":[0.30134,0.08364],"export":[0.1,0.2],"import":[0.30134,0.08364],` +
		`"metadata":{"exportCompensation":{"type":"NET_BILLING","source":"sheet 7",` +
		`"description":"Net billing: an exported kWh is paid at the tariff's sell rate for its interval.",` +
		`"ratePlanId":null,"effectiveFrom":"2020-05-01","effectiveTo":null},"importSource":"tariff",` +
		`"generatedAt":"2026-07-01T10:07:33.000Z","sequence":0}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSignalJSON_Numbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", -1: "-1", 0.1: "0.1", 0.123456: "0.123456", 0.000001: "0.000001", -0.000001: "-0.000001",
		12.5: "12.5", 100: "100", 99.999999: "99.999999", 0.30000000000000004: "0.3", 1e-9: "0", -1e-9: "0",
		123456789.25: "123456789.25", 1e21: "1000000000000000000000", math.Copysign(0, -1): "0", math.Inf(1): "null",
	} {
		c := &pricing.Curve{Window: window("2026-01-05T11:45:00Z", "2026-01-05T12:00:00Z"),
			Import: []float64{v}, Export: []float64{v}, Price: []float64{v}, Confidence: []float64{v}}
		if got := string(c.AppendShared(nil, "")); !strings.Contains(got, `"import":[`+want+`],"metadata"`) || !strings.Contains(got, `"price":`+want+`,`) {
			t.Errorf("%v became %s, want %s", v, got, want)
		}
	}
}

// encoding/json is the oracle for strings.
func TestSignalJSON_Strings(t *testing.T) {
	var all strings.Builder
	for r := range rune(0x3000) {
		all.WriteRune(r)
	}
	for _, s := range []string{
		"", "plain", `"quoted" \ back`, "\x00\x01\b\f\n\r\t\x1f\x7f", "<script>&</script>", "\u2028\u2029", "\ufffd",
		"bad \xff\xfe utf \xe2\x28", "\xed\xa0\x80", "half \xe2\x82", "émoji 😀", all.String(),
	} {
		c := &pricing.Curve{Window: window("2026-01-05T11:45:00Z", "2026-01-05T12:00:00Z"), ImportSource: s,
			ExportCompensation: pricing.ExportCompensation{Source: s, Description: s}}
		encoded := encode(s, c, "", time.Time{}, 0)
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(encoded, append([]byte(`:`), want...)); got < 4 {
			t.Errorf("%.60q is not escaped as %.60s", s, want)
		}
		var back string
		if err := json.Unmarshal(want, &back); err != nil {
			t.Fatal(err)
		}
		if got := decode(t, encoded); got.HomeID != back {
			t.Errorf("%.60q decodes to %.60q", s, got.HomeID)
		}
	}
}

// The timestamp is the layout of package time, for any time.
func TestAppendTimestamp_Layout(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		at := time.Unix(draw.Int64N(1<<37), draw.Int64N(1e9)).In(time.FixedZone("", draw.IntN(86400)-43200))
		if got, want := string(pricing.AppendTimestamp(nil, at)), at.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Fatalf("%v is %s, want %s", at, got, want)
		}
	}
}
