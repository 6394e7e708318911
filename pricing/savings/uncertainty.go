package savings

import "math"

// Uncertainty is a band about the savings. It is a judgement, not a statistic:
// docs/savings.md says how it is made.
type Uncertainty struct {
	SavingsLow  float64 `json:"savingsLow"` // $
	SavingsHigh float64 `json:"savingsHigh"`
	Basis       string  `json:"basis"`
}

const uncertaintyBasis = "the same estimate for a house that is 25 % leakier with a device 15 % weaker and for one as much tighter and stronger, " +
	"together with shares for the device's power, the weather of a single year, and the distance of the weather station"

// What the band is made of.
const (
	leakier      = 1.25 // factor of the heat transfer coefficient, and 1/ of it
	weaker       = 0.85 // factor of the rates, and 1/ of it
	assumedPower = 0.25 // share of the savings when a power is assumed
	givenPower   = 0.05 // share when all are given
	anyYear      = 0.10 // share for the weather of a single year
	kmPerShare   = 5000 // a station this far away adds a share of 1
	mostDistance = 0.50 // share at most
)

// spread sums the savings of the houses to the left and right of the estimate's.
type spread struct {
	leaky, tight float64
}

func (e *estimate) addSpread(h *house, t *timetable, c *conditions, r *run) error {
	leaky, err := e.savingsOf(h.vary(leakier, weaker), t, c, r)
	if err != nil {
		return err
	}
	tight, err := e.savingsOf(h.vary(1/leakier, 1/weaker), t, c, r)
	e.spread.leaky += leaky
	e.spread.tight += tight
	return err
}

// vary is the house with another heat transfer and a device of another strength.
func (x *house) vary(transfer, strength float64) *house {
	y := *x
	y.h *= transfer
	y.a = math.Exp(-y.h * stepHours)
	y.b = -math.Expm1(-y.h*stepHours) / y.h
	y.heat *= y.b / x.b * strength
	y.cool *= y.b / x.b * strength
	return &y
}

// savingsOf is what a house saves over a run, in dollars. Errors: that of Rest.
func (e *estimate) savingsOf(h *house, t *timetable, c *conditions, r *run) (float64, error) {
	b := newBaseline(h, t, c)
	sum := 0.0
	for i := range r.months {
		p, base := b.month(&r.months[i])
		sum += base.cost - newSolver(p).equalComfort(base).cost
		if err := e.rest(); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// uncertainty is the band about the savings: the houses on both sides and the
// shares, as independent errors.
func (e *estimate) uncertainty(savings float64) Uncertainty {
	power := givenPower
	for i := range e.devices {
		if e.devices[i].device.assumesPower() {
			power = assumedPower
		}
	}
	shares := savings * math.Sqrt(power*power+anyYear*anyYear+math.Pow(min(mostDistance, e.distanceKm()/kmPerShare), 2))
	below := savings - min(savings, e.spread.leaky, e.spread.tight)
	above := max(savings, e.spread.leaky, e.spread.tight) - savings
	return Uncertainty{
		SavingsLow:  hundredths(max(0, savings-math.Hypot(below, shares))),
		SavingsHigh: hundredths(savings + math.Hypot(above, shares)),
		Basis:       uncertaintyBasis,
	}
}
