package market

import (
	"math"
	"time"
)

const (
	hourSeconds = 60 * 60
	// MaxHorizon is the maximum time from the last published price to a forecast.
	MaxHorizon = 45 * 24 * time.Hour

	// minHours is the minimum history of a forecast. A history shorter than weekHours
	// has one shape for all days.
	minHours  = 48
	weekHours = 14 * 24

	// halfLife is the age at which a day has half the weight in the shape. fading is the
	// time in which the deviation of the last hours decays to 1/e. believed is the used
	// share of this deviation, as prices return faster than they deviate. A back-test on
	// a PJM hub sets these values; the tests contain it.
	halfLife = 28 * 24 * time.Hour
	fading   = 4 * time.Hour
	believed = 0.5
	recent   = 24 // hours that determine the deviation
)

// model holds the parameters of a series' forecast:
//
//	price(t) = shape(kind of day, hour) + unusual x exp(-(t - end) / 4 h)
//
// The shape is the mean of the series' own hours, separately for weekdays and weekends. A
// day four weeks before the last day has half the weight of the last day. unusual is half
// the mean of price minus shape over the last day. The latest hours have the most weight.
type model struct {
	location *time.Location
	known    bool
	shape    [2][24]float64 // weekday or weekend, hour of the local day; NaN without a price
	steady   [2][24]float64 // share of the history within a tenth of the shape
	unusual  float64
}

// fit returns the model of a series.
func fit(s *Series, location *time.Location) model {
	m := model{location: location}
	hours := s.hourly()
	if len(hours) < minHours {
		return m
	}
	m.known = true
	m.learnShape(hours, s.end())
	m.learnSteadiness(hours, s.end())
	weights, sum := 0.0, 0.0
	for _, h := range hours[max(0, len(hours)-recent):] {
		kind, hour := m.slot(h.at)
		weight := math.Exp(-float64(s.end()-h.at) / fading.Seconds())
		sum += weight * (h.price - m.shape[kind][hour])
		weights += weight
	}
	m.unusual = believed * sum / weights
	return m
}

// hourPrice is the mean price of an hour.
type hourPrice struct {
	at    int64
	price float64
}

// hourly returns the means of all hours with published prices.
func (s *Series) hourly() []hourPrice {
	var hours []hourPrice
	n := 0.0
	for i, price := range s.prices {
		if math.IsNaN(price) {
			continue
		}
		at := s.from + int64(i)*s.step
		at -= at % hourSeconds
		if len(hours) == 0 || hours[len(hours)-1].at != at {
			hours = append(hours, hourPrice{at: at})
			n = 0
		}
		last := &hours[len(hours)-1]
		n++
		last.price += (price - last.price) / n
	}
	return hours
}

func (m *model) learnShape(hours []hourPrice, end int64) {
	var sums, weights [2][24]float64
	for _, h := range hours {
		kind, hour := m.slot(h.at)
		weight := math.Exp2(-float64(end-h.at) / halfLife.Seconds())
		sums[kind][hour] += weight * h.price
		weights[kind][hour] += weight
	}
	for kind := range sums {
		for hour := range sums[kind] {
			sum, weight := sums[kind][hour], weights[kind][hour]
			if len(hours) < weekHours || weight == 0 { // the same shape for all days
				sum = sums[0][hour] + sums[1][hour]
				weight = weights[0][hour] + weights[1][hour]
			}
			m.shape[kind][hour] = sum / weight // NaN for an hour without history
		}
	}
}

// learnSteadiness calculates the share of the history within a tenth of the shape.
func (m *model) learnSteadiness(hours []hourPrice, end int64) {
	var near, weights [2][24]float64
	for _, h := range hours {
		kind, hour := m.slot(h.at)
		weight := math.Exp2(-float64(end-h.at) / halfLife.Seconds())
		weights[kind][hour] += weight
		if math.Abs(m.shape[kind][hour]-h.price) <= 0.1*math.Abs(h.price) {
			near[kind][hour] += weight
		}
	}
	all, sum := 0.0, 0.0
	for kind := range near {
		for hour := range near[kind] {
			all, sum = all+near[kind][hour], sum+weights[kind][hour]
		}
	}
	// The mean of all slots counts as seven more days of a slot, as a few days are not
	// significant.
	const mean = 7
	for kind := range near {
		for hour := range near[kind] {
			m.steady[kind][hour] = (near[kind][hour] + mean*all/sum) / (weights[kind][hour] + mean)
		}
	}
}

// slot returns the position of an instant in the shape.
func (m *model) slot(unix int64) (kind, hour int) {
	local := time.Unix(unix, 0).In(m.location)
	if day := local.Weekday(); day == time.Saturday || day == time.Sunday {
		kind = 1
	}
	return kind, local.Hour()
}

// forecast returns the model's price at an instant after a published price. In a gap the
// horizon counts from the last price before the gap.
func (s *Series) forecast(unix int64) (Price, bool) {
	last := s.lastBefore(unix)
	horizon := time.Duration(unix-last) * time.Second
	if !s.model.known || horizon > MaxHorizon {
		return Price{}, false
	}
	kind, hour := s.model.slot(unix)
	value := s.model.shape[kind][hour]
	if unix >= s.end() {
		value += s.model.unusual * math.Exp(-float64(unix-s.end())/fading.Seconds())
	}
	return Price{Value: value, Confidence: min(s.model.steady[kind][hour], steadiest), Forecast: true}, !math.IsNaN(value)
}

// lastBefore returns the end of the last published interval before an instant.
func (s *Series) lastBefore(unix int64) int64 {
	i := min((unix-s.from)/s.step, int64(len(s.prices))-1)
	for math.IsNaN(s.prices[i]) { // the first price is published
		i--
	}
	return s.from + (i+1)*s.step
}

// The limits of the confidence in a forecast. The confidence is the share of the slot's
// own hours within a tenth of the shape, at most steadiest. The backtest of
// docs/pricing.md confirms this share at every horizon up to 30 days. It also finds no
// higher share than steadiest, even for the steadiest slots.
const (
	steadiest = 0.5
	unsure    = 0.15 // a typical year
)
