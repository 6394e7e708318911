package market

import (
	"math"
	"time"
)

const (
	hourSeconds = 60 * 60
	// MaxHorizon is how far beyond the last published price a forecast goes.
	MaxHorizon = 45 * 24 * time.Hour

	// leastHours of history are needed for a forecast at all; with fewer than
	// weekHours there is one shape for all days.
	leastHours = 48
	weekHours  = 14 * 24

	// halfLife is the age at which a day counts half in the shape, and fading
	// the time in which what is unusual about the last hours is forgotten by 1/e.
	// Half of it is believed: prices come back faster than they go. The three were
	// chosen by the back-test on a PJM hub that is in the tests.
	halfLife = 28 * 24 * time.Hour
	fading   = 4 * time.Hour
	believed = 0.5
	recent   = 24 // hours that tell what is unusual

	// Confidence in a forecast: from the first hour to the far end.
	nearConfidence, farConfidence = 0.8, 0.3
	confidenceFading              = 48 * time.Hour
)

// model is what a forecast needs of a series:
//
//	price(t) = shape(kind of day, hour) + unusual x exp(-(t - end) / 4 h)
//
// The shape is the mean of the series' own hours, weekdays and weekends apart, in
// which a day of four weeks ago counts half as much as the last; unusual is half
// the mean of price less shape over the last day, the latest hours counting most.
type model struct {
	location *time.Location
	known    bool
	shape    [2][24]float64 // weekday or weekend, hour of the local day
	unusual  float64
}

// fit makes the model of a series.
func fit(s *Series, location *time.Location) model {
	m := model{location: location}
	hours := s.hourly()
	if len(hours) < leastHours {
		return m
	}
	m.known = true
	m.learnShape(hours, s.end())
	weights, sum := 0.0, 0.0
	for _, h := range hours[max(0, len(hours)-recent):] {
		kind, hour := m.slot(h.at)
		weight := math.Exp(-float64(s.end()-h.at) / fading.Seconds())
		sum += weight * (h.price - m.shape[kind][hour])
		weights += weight
	}
	if weights > 0 {
		m.unusual = believed * sum / weights
	}
	return m
}

// hourPrice is the mean of an hour.
type hourPrice struct {
	at    int64
	price float64
}

// hourly are the means of the hours in which prices are published.
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
			if len(hours) < weekHours || weight == 0 { // all days alike
				sum = sums[0][hour] + sums[1][hour]
				weight = weights[0][hour] + weights[1][hour]
			}
			if weight > 0 {
				m.shape[kind][hour] = sum / weight
			}
		}
	}
}

// slot is the place of an instant in the shape.
func (m *model) slot(unix int64) (kind, hour int) {
	local := time.Unix(unix, 0).In(m.location)
	if day := local.Weekday(); day == time.Saturday || day == time.Sunday {
		kind = 1
	}
	return kind, local.Hour()
}

// forecast is the model's price at an instant after a published one. Within a gap
// the horizon is that of the last price before it.
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
	return Price{Value: value, Confidence: confidence(horizon), Forecast: true}, true
}

// lastBefore is the end of the last published interval before an instant.
func (s *Series) lastBefore(unix int64) int64 {
	i := min((unix-s.from)/s.step, int64(len(s.prices))-1)
	for i >= 0 && math.IsNaN(s.prices[i]) {
		i--
	}
	return s.from + (i+1)*s.step
}

// confidence falls with the horizon:
//
//	0.3 + 0.5 x exp(-horizon / 48 h)
func confidence(horizon time.Duration) float64 {
	return farConfidence + (nearConfidence-farConfidence)*math.Exp(-horizon.Seconds()/confidenceFading.Seconds())
}
