package signals

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// Signal is one home's price signal.
type Signal struct {
	HomeID string
	*Curve
	// Revision is the sequence number in the signal's metadata. It is the newest revision
	// of all inputs of the signal, so it rises with every change for the home.
	Revision uint64
}

// Append appends the signal's JSON object.
func (s *Signal) Append(dst []byte, generatedAt time.Time) []byte {
	return append(s.AppendFields(append(dst, '{'), generatedAt), '}')
}

// AppendFields appends the signal's JSON fields without the enclosing braces, for use in
// a larger object.
func (s *Signal) AppendFields(dst []byte, generatedAt time.Time) []byte {
	return pricing.AppendSignal(dst, s.HomeID, s.Encoded, generatedAt, s.Revision)
}

// Pricer prices homes and caches shared curves and inputs. It is safe for concurrent use.
type Pricer struct {
	curves   *cache[curveKey, *Curve]
	tariffs  *cache[tariffKey, *tariff]
	events   *cache[uint64, []pricing.Event] // by the revision of a plan's events
	markets  *cache[uint64, *market.Series]  // by the revision of a series
	places   *cache[string, place]           // by zipcode
	profiles *cache[profileKey, *solar.Profile]
	chances  *cache[chanceKey, *solar.Chance]
	loads    *cache[uint64, *measuredLoad] // by the revision of a measured load
	programs *cache[uint64, programFacts]  // by the revision of a plan
	// planPlaces has the places of an organization's plans, derived from its homes.
	planPlaces *cache[atRevision, map[string]catalog.Place]
	// utilities has the utilities of the plans that an organization can use.
	utilities *cache[atRevision, map[int]bool]
}

// These limits bound the cached values, beside the curves. A market's series takes up to
// 2 MB, a profile 140 KB, a chance up to 5 KB, a measured load 3 KB. The other values are small.
const (
	maxMarkets  = 32
	maxProfiles = 512
	maxChances  = 8192
	maxPlaces   = 65536
	maxPrograms = 16384
	maxOrgs     = 64
	maxUsable   = 1024
)

// NewPricer returns a Pricer with a cache for the given number of one-day curves, of about 20
// KB each. A longer curve counts as its number of days.
func NewPricer(curves int) *Pricer {
	return &Pricer{
		curves:   newSizedCache[curveKey, *Curve](max(curves, 16), curveKey.days),
		tariffs:  newCache[tariffKey, *tariff](max(curves/4, 16)),
		events:   newCache[uint64, []pricing.Event](max(curves/4, 16)),
		markets:  newCache[uint64, *market.Series](maxMarkets),
		places:   newCache[string, place](maxPlaces),
		profiles: newCache[profileKey, *solar.Profile](maxProfiles),
		chances:  newCache[chanceKey, *solar.Chance](maxChances),
		loads:    newCache[uint64, *measuredLoad](maxChances),
		programs: newCache[uint64, programFacts](maxPrograms),

		planPlaces: newCache[atRevision, map[string]catalog.Place](maxOrgs),
		utilities:  newCache[atRevision, map[int]bool](maxUsable),
	}
}

// HomeSignal prices one home by its identifier. Errors: storage.ErrNotFound,
// *Unpriceable, *HomeError, and errors of the store.
func (p *Pricer) HomeSignal(v storage.View, org, homeID string, w pricing.Window) (Signal, error) {
	r := p.Reader(v, org)
	home, err := r.find(homeID)
	if err != nil {
		return Signal{}, err
	}
	return r.Signal(home, w)
}

// Explain returns the components of the home's prices for each interval of a window.
// Errors: storage.ErrNotFound, *Unpriceable.
func (p *Pricer) Explain(v storage.View, org, homeID string, w pricing.Window) ([]pricing.Reason, error) {
	r := p.Reader(v, org)
	home, err := r.find(homeID)
	if err != nil {
		return nil, err
	}
	input, err := r.input(home)
	if err != nil {
		return nil, err
	}
	reasons, err := pricing.Explain(input, w)
	return reasons, unpriceable(err, "startTime")
}

// HomePrices returns the cost of one more kWh for a home in each quarter hour of a
// window, in $/kWh. The cost is the import price or the forgone export price, weighted by
// the home's probability of exporting. Carbon is left out.
//
// If a market price is neither published nor near enough to forecast, HomePrices uses the
// price of a typical year. The window may be longer than a signal's window, so the prices
// are neither encoded nor cached. Errors: *Unpriceable.
func (p *Pricer) HomePrices(v storage.View, home *storage.Home, w pricing.Window) ([]float64, error) {
	input, err := p.Input(v, home)
	if err != nil {
		return nil, err
	}
	input.Carbon = nil
	if input.Market != nil {
		input.Market = input.Market.Typical()
	}
	for i := range input.Parts {
		if of := &input.Parts[i]; of.Market != nil {
			of.Market = of.Market.Typical()
		}
	}
	curve, err := pricing.Price(input, w)
	if err != nil {
		return nil, unpriceable(err, "start")
	}
	return curve.Price, nil
}

// Input returns the inputs of a home's prices. Errors: *Unpriceable, *HomeError, and
// errors of the store.
func (p *Pricer) Input(v storage.View, home *storage.Home) (pricing.Input, error) {
	input, err := p.Reader(v, home.OrganizationID).input(newHome(home))
	return input, homeError(err)
}
