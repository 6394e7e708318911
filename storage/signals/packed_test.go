package signals_test

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// dayCurve returns the curve of a day with two prices.
func dayCurve(t testing.TB) *signals.Curve {
	t.Helper()
	w := window(storagetest.Start)
	c, err := pricing.CurveFromRuns(w, []pricing.Run{
		{N: w.Len() / 2, Price: 0.284681, Import: 0.284681, Export: 0.05749, Confidence: 1},
		{N: w.Len() - w.Len()/2, Price: 0.320631, Import: 0.320631, Export: 0.06529, Confidence: 1},
	}, pricing.ExportCompensation{Type: pricing.NetMetering}, "a tariff")
	if err != nil {
		t.Fatal(err)
	}
	return signals.NewCurve(*c, "plan")
}

// TestPacked_BetweenBlocks places packed bytes between other blocks, twice, and checks
// that every signal of the curve contains them.
func TestPacked_BetweenBlocks(t *testing.T) {
	curve := dayCurve(t)
	s := signals.Signal{HomeID: "home_1", Curve: curve, Revision: 7}
	for name, c := range map[string]struct {
		packed func() (shared, packed []byte)
		text   []byte
	}{
		"common":  {curve.Packed, s.Append(nil, time.Unix(0, 0))},
		"openADR": {curve.PackedOpenADR, s.AppendOpenADR(nil, time.Unix(0, 0))},
	} {
		shared, packed := c.packed()
		if !bytes.Contains(c.text, shared) || 10*len(packed) > len(shared) || len(shared) < 9*len(c.text)/10 {
			t.Errorf("%s: %d bytes are packed into %d bytes, and the signal has %d", name, len(shared), len(packed), len(c.text))
		}
		stored := []byte{0, 2, 0, 0xfd, 0xff, 'h', 'i'}
		last := []byte{1, 0, 0, 0xff, 0xff}
		stream := bytes.Join([][]byte{packed, stored, packed, last}, nil)
		want := bytes.Join([][]byte{shared, []byte("hi"), shared}, nil)
		if got, err := io.ReadAll(flate.NewReader(bytes.NewReader(stream))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: unpacked to %d bytes, want %d: %v", name, len(got), len(want), err)
		}
	}
}

// BenchmarkPack compresses the curve of a day, as happens once per curve.
func BenchmarkPack(b *testing.B) {
	made := make([]*signals.Curve, b.N)
	for i := range made {
		made[i] = dayCurve(b)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, c := range made {
		c.Packed()
	}
}
