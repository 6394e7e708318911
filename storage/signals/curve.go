package signals

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/storage"
)

// Curve is a price curve with the encoded parts that its homes share. The homes are on
// one rate plan and in one region of the grid.
type Curve struct {
	pricing.Curve
	RatePlanID string
	Encoded    []byte

	grid      *carbon.Region // nil if the homes' place is not known
	location  *time.Location
	print     lazy[string]
	printADR  lazy[string]
	emissions lazy[[]float64]
	openADR   lazy[[]byte]
	packed    lazy[[]byte]
	packedADR lazy[[]byte]
}

// lazy is a value that is computed at its first use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(make func() T) T {
	l.once.Do(func() { l.value = make() })
	return l.value
}

// NewCurve encodes a curve of a rate plan.
func NewCurve(c pricing.Curve, ratePlanID string) *Curve {
	return &Curve{Curve: c, RatePlanID: ratePlanID, Encoded: bytes.Clone(c.AppendShared(nil, ratePlanID))}
}

// Fingerprint returns a text that differs for curves with another content in a format:
// another window, rate plan, other prices or sources, in FormatOpenADR3 also other
// emissions.
func (c *Curve) Fingerprint(format storage.SignalFormat) string {
	if format == storage.FormatOpenADR3 {
		return c.printADR.get(func() string { return fingerprint([]byte(c.RatePlanID), c.EncodedOpenADR()) })
	}
	return c.print.get(func() string { return fingerprint(c.Encoded) })
}

// CoarseFingerprint returns a text that differs for curves with another window, rate plan
// or source, and for curves that differ in a price by more than step, in $/kWh. It also
// differs for some curves with a smaller difference, because prices are rounded to
// multiples of step.
func (c *Curve) CoarseFingerprint(step float64) string {
	text := fmt.Appendf(nil, "%d %d %s %s %s", c.Window.Start.Unix(), c.Window.End.Unix(), c.RatePlanID, c.ImportSource, c.ExportCompensation.Type)
	for _, prices := range [][]float64{c.Price, c.Import, c.Export} {
		for _, price := range prices {
			text = strconv.AppendInt(append(text, ' '), int64(math.Round(price/step)), 10)
		}
	}
	return fingerprint(text)
}

func fingerprint(parts ...[]byte) string { return storage.Hash(bytes.Join(parts, []byte{0}), 8) }

// WithEmissions sets the emissions of a curve that was not made by a Pricer, and returns
// the curve. It must be the first call on the curve.
func (c *Curve) WithEmissions(grams []float64) *Curve {
	c.emissions.get(func() []float64 { return grams })
	return c
}

// Emissions returns the marginal emissions in each interval, in grams of CO2 per kWh. It
// returns nil if the homes' place is not known.
func (c *Curve) Emissions() []float64 {
	return c.emissions.get(func() []float64 {
		if c.grid == nil {
			return nil
		}
		return emissions(c.grid, nil, c.location, c.Window)
	})
}
