package signals

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// Signal is one home's price signal.
type Signal struct {
	HomeID string
	*Curve
	// Revision is the sequence in the signal's metadata: the newest revision of
	// anything that the signal depends on, so it rises with every change for
	// the home.
	Revision uint64
}

// Append appends the signal's JSON object.
func (s *Signal) Append(dst []byte, generatedAt time.Time) []byte {
	return append(s.AppendFields(append(dst, '{'), generatedAt), '}')
}

// AppendFields appends the same without the enclosing braces, for embedding
// into a larger object.
func (s *Signal) AppendFields(dst []byte, generatedAt time.Time) []byte {
	return pricing.AppendSharedSignal(dst, s.HomeID, s.Encoded, pricing.Meta{GeneratedAt: generatedAt, Sequence: s.Revision})
}

// Book prices homes. It is safe for concurrent use.
type Book struct {
	curves   *cache[curveKey, *Curve]
	tariffs  *cache[tariffKey, *tariff]
	events   *cache[uint64, []pricing.Event] // by the revision of a plan's events
	markets  *cache[uint64, *market.Series]  // by the revision of a series
	places   *cache[string, place]           // by zipcode
	profiles *cache[profileKey, *solar.Profile]
	chances  *cache[chanceKey, *solar.Chance]
}

// How many of each are kept, beside the curves. A market's series takes up to
// 2 MB, a profile 140 KB, a chance up to 5 KB, the others little.
const (
	keptMarkets  = 32
	keptProfiles = 512
	keptChances  = 8192
	keptPlaces   = 65536
)

// NewBook makes a book that keeps up to the given number of curves (about 20 KB
// each for a day).
func NewBook(curves int) *Book {
	return &Book{
		curves:   newCache[curveKey, *Curve](max(curves, 16)),
		tariffs:  newCache[tariffKey, *tariff](max(curves/4, 16)),
		events:   newCache[uint64, []pricing.Event](max(curves/4, 16)),
		markets:  newCache[uint64, *market.Series](keptMarkets),
		places:   newCache[string, place](keptPlaces),
		profiles: newCache[profileKey, *solar.Profile](keptProfiles),
		chances:  newCache[chanceKey, *solar.Chance](keptChances),
	}
}

// HomeSignal prices one home by its identifier. Errors: storage.ErrNotFound,
// *Unpriceable.
func (b *Book) HomeSignal(v storage.View, org, homeID string, w pricing.Window) (Signal, error) {
	r := b.Reader(v)
	home, err := r.find(org, homeID)
	if err != nil {
		return Signal{}, err
	}
	return r.Signal(home, w)
}

// Explain says for each interval of a window what the home's prices are made of.
// Errors: storage.ErrNotFound, *Unpriceable.
func (b *Book) Explain(v storage.View, org, homeID string, w pricing.Window) ([]pricing.Reason, error) {
	r := b.Reader(v)
	home, err := r.find(org, homeID)
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

// ImportPrices is what one more kWh drawn costs a home in each quarter hour of a
// window, in $/kWh. The window may be longer than that of a signal, so nothing is
// encoded nor kept. Errors: *Unpriceable.
func (b *Book) ImportPrices(v storage.View, home *storage.Home, w pricing.Window) ([]float64, error) {
	input, err := b.Reader(v).input(newHome(home))
	if err != nil {
		return nil, err
	}
	curve, err := pricing.Price(input, w)
	if err != nil {
		return nil, unpriceable(err, "start")
	}
	return curve.Import, nil
}
