package webhook

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// BenchmarkMessage_Make encodes and signs the messages of homes that share a curve of a
// day and of two hours. Hashing the body takes most of the time, because each body
// differs. The benchmark also measures the hash alone.
func BenchmarkMessage_Make(b *testing.B) {
	s, err := NewSigner("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	signers := []*Signer{s}
	for _, bb := range []struct {
		name   string
		hours  int
		format storage.SignalFormat
	}{{"a day", 24, storage.FormatSignal}, {"half a day", 12, storage.FormatSignal}, {"two hours", 2, storage.FormatSignal}, {"a day in OpenADR", 24, storage.FormatOpenADR3}} {
		t := events.NewTrigger("org", pricing.Window{Start: noon, End: noon.Add(time.Duration(bb.hours) * time.Hour)}, noon)
		n := t.Window().Len()
		curve, err := pricing.CurveFromRuns(t.Window(), []pricing.Run{
			{N: n / 2, Price: 0.284681, Import: 0.284681, Export: 0.05749, Confidence: 1},
			{N: n - n/2, Price: 0.320631, Import: 0.320631, Export: 0.06529, Confidence: 1},
		}, pricing.ExportCompensation{Type: pricing.NetMetering}, "a tariff")
		if err != nil {
			b.Fatal(err)
		}
		m := NewMessage(&t, "ep_01JZ2E6K8M0000000000000000", signals.Signal{HomeID: "home_01JZ2E6K8M0000000000000000", Curve: signals.NewCurve(*curve, "plan"), Revision: 42}, bb.format)
		body := m.AppendBody(nil)
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body = m.AppendBody(body[:0])
				Sign(signers, &Payload{ID: m.ID(), text: body}, noon)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(len(body)), "bytes")
		})
		b.Run(bb.name+", gzip", func(b *testing.B) {
			b.ReportAllocs()
			room := Scratch{Messages: []*Message{&m}}
			var p Payload
			for b.Loop() {
				p = room.Payload(false, storage.CompressionGzip)
				Sign(signers, &p, noon)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(len(p.packed)), "bytes")
		})
		b.Run(bb.name+", assembled", func(b *testing.B) {
			room := Scratch{Messages: []*Message{&m}}
			for b.Loop() {
				room.Payload(false, storage.CompressionGzip)
			}
		})
		b.Run(bb.name+", hash alone", func(b *testing.B) {
			for b.Loop() {
				sha256.Sum256(body)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
