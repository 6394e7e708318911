package signals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
)

// Curve is a price curve and all of its encoded form that the homes which have it
// share. They are on one rate plan and in one region of the grid.
type Curve struct {
	pricing.Curve
	RatePlanID string
	Encoded    []byte

	grid        *carbon.Region // nil where the homes' place is not known
	location    *time.Location
	fingerprint lazy[string]
	emissions   lazy[[]float64]
	openADR     lazy[[]byte]
	packed      lazy[[]byte]
	packedADR   lazy[[]byte]
}

// lazy is a value that is made when it is first asked for.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(make func() T) T {
	l.once.Do(func() { l.value = make() })
	return l.value
}

// scratches are buffers to encode in: what is kept has no room to spare.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

// NewCurve encodes a curve of a rate plan.
func NewCurve(c pricing.Curve, ratePlanID string) *Curve {
	scratch := scratches.Get().(*[]byte)
	defer scratches.Put(scratch)
	*scratch = c.AppendShared((*scratch)[:0], ratePlanID)
	return &Curve{Curve: c, RatePlanID: ratePlanID, Encoded: bytes.Clone(*scratch)}
}

// Fingerprint tells signals apart that have another window, other prices or other
// sources.
func (c *Curve) Fingerprint() string {
	return c.fingerprint.get(func() string {
		sum := sha256.Sum256(c.Encoded)
		return hex.EncodeToString(sum[:8])
	})
}

// WithEmissions gives a curve that was not made by a Book its emissions, and
// returns it. It must come before anything else is asked of the curve.
func (c *Curve) WithEmissions(grams []float64) *Curve {
	c.emissions.get(func() []float64 { return grams })
	return c
}

// Emissions are what one kWh more emits in each interval, in grams of CO2; nil
// where the homes' place is not known.
func (c *Curve) Emissions() []float64 {
	return c.emissions.get(func() []float64 {
		if c.grid == nil {
			return nil
		}
		grams := make([]float64, c.Len())
		for i := range grams {
			local := c.Window.At(i).In(c.location)
			grams[i] = math.Round(gramsAPound*c.grid.Rate(local.Month(), local.Hour())*10) / 10
		}
		return grams
	})
}

const gramsAPound = 453.59237
