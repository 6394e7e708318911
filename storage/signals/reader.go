package signals

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/storage"
)

// Reader prices the homes of an organization in one view and caches shared inputs. It is
// valid as long as its view, and not safe for concurrent use.
//
// A Reader returns three kinds of errors. An *Unpriceable says which data a home lacks. A
// *HomeError says that stored data is unusable. Both concern that home alone. Any other
// error, except storage.ErrNotFound, is an error of the store and concerns the whole
// view.
type Reader struct {
	pricer *Pricer
	view   storage.View
	org    string
	plans  map[string]foundPlan
	series map[nodeName]*series
	home   Home // the last decoded home
	// anyMeasured and anyReceiver look once: see findMeasured and findReceiver.
	anyMeasured, anyReceiver func() (bool, error)
}

// nodeName is the name of a market's node, or of a grid region.
type nodeName struct {
	kind market.Kind
	node string
}

type foundPlan struct {
	plan *plan
	err  error
}

// Reader returns a Reader of a view for an organization.
func (p *Pricer) Reader(v storage.View, org string) *Reader {
	r := &Reader{pricer: p, view: v, org: org, plans: map[string]foundPlan{}, series: map[nodeName]*series{}}
	r.anyMeasured, r.anyReceiver = sync.OnceValues(r.findMeasured), sync.OnceValues(r.findReceiver)
	return r
}

// find reads a home by its identifier. Errors: storage.ErrNotFound, *HomeError, and
// errors of the store.
func (r *Reader) find(id string) (*Home, error) {
	record, err := r.view.Get(storage.KindHome.Ref(r.org, id))
	if err != nil {
		return nil, err
	}
	return r.Home(record)
}

// curveKey identifies a curve. It holds every input of the curve.
type curveKey struct {
	start, end int64
	tariff     tariffKey // implies the rate plan
	timezone   string
	events     uint64
	series     uint64
	parts      string // identifies the parts of a composed plan
	bids       bool
	hasSolar   bool
	solar      pricing.Solar // the facts that decide a price
	exports    bool          // whether chance is set
	chance     chanceKey     // without exports it has the measured load alone
	usage      pricing.Usage
	grid       *carbon.Region
	carbon     carbon.Intensity
	emissions  uint64 // revision of the published emissions, 0 if there are none
}

// days returns the number of days of the curve, rounded up.
func (k curveKey) days() int {
	const day = 24 * 60 * 60
	return max(1, int((k.end-k.start+day-1)/day))
}

// homeInputs are a home's inputs of its prices, before the calculation.
type homeInputs struct {
	location  *time.Location
	plan      *plan
	series    *series
	emissions *series       // published emissions, nil if the place of the home is unknown
	measured  *measuredLoad // nil if there is none
	revision  uint64        // newest write of all inputs
	key       curveKey
}

// Signal prices a home. Errors: *Unpriceable, *HomeError, and errors of the store.
func (r *Reader) Signal(home *Home, w pricing.Window) (Signal, error) {
	s, err := r.homeInputs(home)
	if err != nil {
		return Signal{}, homeError(err)
	}
	s.key.start, s.key.end = w.Start.Unix(), w.End.Unix()
	curve, known := r.pricer.curves.peek(s.key)
	if !known {
		curve, err = r.computeOnce(s, w, home.RatePlanID)
	}
	if err != nil {
		return Signal{}, homeError(err)
	}
	return Signal{HomeID: home.ID, Curve: curve, Revision: s.revision}, nil
}

// homeInputs looks up the inputs of a home's prices.
func (r *Reader) homeInputs(home *Home) (s homeInputs, err error) {
	var ok bool
	if s.location, ok = storage.Location(home.Timezone); !ok {
		if home.Zipcode != "" {
			return s, &Unpriceable{"timezone", fmt.Sprintf("the home has no time zone, and its zipcode %s does not give one: set its timezone", home.Zipcode)}
		}
		return s, &Unpriceable{"timezone", "the home has no time zone: set its timezone or its zipcode"}
	}
	if s.plan, err = r.plan(home.RatePlanID); err != nil {
		return s, err
	}
	s.revision = max(home.Revision, s.plan.newest)
	at := r.pricer.place(home.Zipcode)
	s.key = curveKey{
		tariff: tariffKey{revision: s.plan.record.Revision}, parts: s.plan.partsKey, timezone: home.Timezone, events: s.plan.events, bids: home.Bids, grid: at.grid,
	}
	if at.grid != nil && home.Carbon != storage.CarbonLow {
		s.key.carbon = carbon.Intensity(home.Carbon)
	}
	if err := r.addEmissions(&s, at.grid); err != nil {
		return s, err
	}
	if err := r.addMarket(&s, home); err != nil {
		return s, err
	}
	err = r.addSolarAndUsage(&s, home, at)
	return s, err
}

// addMarket adds the market that the plan passes through, or the market that the home
// sells to.
func (r *Reader) addMarket(s *homeInputs, home *Home) error {
	s.series = s.plan.series
	if home.Bids && s.series == nil {
		ref := storage.KindHomeMarket.Ref(r.org, home.ID)
		s.revision = max(s.revision, r.lastWrite(ref))
		named, _, err := storage.Read[storage.HomeMarket](r.view, ref)
		switch {
		case errors.Is(err, storage.ErrNotFound): // the home sells by its plan
			return nil
		case err != nil:
			return err
		}
		if s.series, err = r.findSeries(named.Market, named.Node); err != nil {
			return err
		}
		s.revision = max(s.revision, s.series.newest)
		if s.series.stored == 0 {
			return &Unpriceable{"energyMarketBiddingEnabled", fmt.Sprintf(
				"no market data: the home sells at node %q in the market %s, which has no price: import its marketSeries", named.Node, named.Market)}
		}
	}
	if s.series != nil {
		s.key.series = s.series.stored
	}
	return nil
}

// addSolarAndUsage adds the home's solar, and its use of energy if the price depends on
// it.
func (r *Reader) addSolarAndUsage(s *homeInputs, home *Home, at place) error {
	solarRef := storage.KindSolar.Ref(r.org, home.ID)
	record, err := r.view.Get(solarRef)
	if storage.IgnoreNotFound(err) != nil {
		return err
	}
	s.revision = max(s.revision, record.Revision)
	s.key.hasSolar = err == nil && !record.Deleted
	if !s.key.hasSolar && !s.plan.tiered {
		return nil
	}
	usage, err := r.usage(s, home)
	if err != nil {
		return err
	}
	if s.plan.tiered {
		s.key.usage = usage.Pricing()
	}
	if err := r.addMeasured(s, home); err != nil {
		return err
	}
	if !s.key.hasSolar {
		return nil
	}
	var solar system
	if err := decode(record, &solar); err != nil {
		return err
	}
	s.settle(&solar, at)
	if s.key.exports = at.known; at.known {
		s.key.chance = newChanceKey(at, &solar, usage.AnnualKWh(), home.Timezone)
		if s.measured != nil { // its load is absolute, not a share of a year's energy
			s.key.chance = newChanceKey(at, &solar, 1, home.Timezone)
			s.key.chance.measured = s.measured.revision
		}
	}
	return nil
}

// settle sets what the exports of the home's solar earn: by its regime, its own export values,
// or the avoided costs of its plan or utility.
func (s *homeInputs) settle(solar *system, at place) {
	utility := cmp.Or(s.plan.eiaID, at.utility)
	values, settled := &s.key.tariff.homeValues, &s.key.solar
	values.own = solar.ExportValues
	settled.NonNetMetered = solar.NonNetMetered || values.own != ""
	if !settled.NonNetMetered {
		settled.Regime = solar.Regime(at.state, utility)
	}
	netBilled := settled.NonNetMetered || settled.Regime.Metering == pricing.NetBilling
	if values.own == "" && !s.plan.avoidedCosts && netBilled && netbilling.Newest(utility) != nil {
		values.payer = utility
	}
	if values.own == "" && (values.payer != 0 || s.plan.avoidedCosts) {
		settled.AppliedFrom, settled.AppliedTo = solar.Applied()
	}
	if solar.AccPlus != "" {
		settled.AccPlus, settled.ConnectionYear = solar.AccPlus, solar.ConnectionYear
	}
}

func (r *Reader) usage(s *homeInputs, home *Home) (storage.Usage, error) {
	ref := storage.KindUsage.Ref(r.org, home.ID)
	usage, revision, err := storage.Read[storage.Usage](r.view, ref)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		revision, err = r.lastWrite(ref), nil // the usage may have been deleted
	case err != nil:
		return usage, err
	}
	s.revision = max(s.revision, revision)
	return usage, err
}

// input returns the input of package pricing for a home.
func (r *Reader) input(home *Home) (pricing.Input, error) {
	s, err := r.homeInputs(home)
	if err != nil {
		return pricing.Input{}, err
	}
	return r.resolve(&s)
}

// resolve computes, or takes from the caches, the inputs that the key of s identifies.
func (r *Reader) resolve(s *homeInputs) (in pricing.Input, err error) {
	k := &s.key
	in = pricing.Input{Location: s.location, Usage: k.usage, MarketBidding: k.bids}
	if s.measured != nil {
		in.Usage.Metered = s.measured.Metered
	}
	if k.carbon != "" {
		in.Carbon, in.CarbonIntensity = k.grid, k.carbon
		if in.Emissions, err = r.prices(s.emissions); err != nil {
			return in, err
		}
	}
	if s.plan.parts != nil {
		if in.Parts, err = r.pricedParts(s.plan.parts, k.tariff.homeValues); err == nil {
			in.Tariff = in.Parts[pricing.Lead(in.Parts)].Tariff
		}
	} else if in.Tariff, err = r.variant(s.plan, k.tariff.homeValues, ""); err == nil {
		in.Events, err = r.pricedEvents(s.plan)
	}
	if err != nil {
		return in, err
	}
	if in.Market, err = r.prices(s.series); err != nil {
		return in, err
	}
	if k.hasSolar {
		in.Solar = new(k.solar)
	}
	if k.exports {
		in.ExportChance, err = r.pricer.chance(k.chance, s.measured)
	}
	return in, err
}

// computeOnce computes and caches a curve. It has a copy of the inputs, so that a cached
// curve needs no allocation.
func (r *Reader) computeOnce(s homeInputs, w pricing.Window, ratePlanID string) (*Curve, error) {
	return r.pricer.curves.get(s.key, func() (*Curve, error) { return r.compute(&s, w, ratePlanID) })
}

// compute prices and encodes a curve.
func (r *Reader) compute(s *homeInputs, w pricing.Window, ratePlanID string) (*Curve, error) {
	input, err := r.resolve(s)
	if err != nil {
		return nil, err
	}
	published, err := r.prices(s.emissions)
	if err != nil {
		return nil, err
	}
	return calculate(func() (*Curve, error) {
		// gofail: var bugPricePanic string
		// if ratePlanID == bugPricePanic {
		// 	panic("bugPricePanic")
		// }
		priced, err := pricing.Price(input, w)
		if err != nil {
			return nil, unpriceable(err, "startTime")
		}
		curve := NewCurve(*priced, ratePlanID)
		curve.grid, curve.location = s.key.grid, s.location
		if published != nil { // a cached curve must not hold the whole series
			curve.WithEmissions(emissions(curve.grid, published, curve.location, curve.Window))
		}
		return curve, nil
	})
}

// Shared returns the last write of a home's shared inputs: its plan, the plan's events,
// the market that it follows or sells to, and the published emissions, if they change its
// price or an endpoint receives them. Errors: *Unpriceable, *HomeError, and errors of the
// store.
func (r *Reader) Shared(home *Home) (revision uint64, err error) {
	var s homeInputs
	if s.plan, err = r.plan(home.RatePlanID); err != nil {
		return 0, homeError(err)
	}
	s.revision = s.plan.newest
	if err = r.addMarket(&s, home); err != nil {
		return s.revision, homeError(err)
	}
	receives, err := r.receivesEmissions(home)
	if err == nil && receives {
		err = r.addEmissions(&s, r.pricer.place(home.Zipcode).grid)
	}
	return s.revision, homeError(err)
}
