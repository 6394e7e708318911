package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// MarketPrices holds the prices of one month of a series in the order of their steps. A
// month of five-minute steps takes about 30 KB.
type MarketPrices struct {
	ID string `json:"id"`
	// Prices has a number for each step of the month, from the month's start in UTC to
	// the last price: see packPrices.
	Prices []byte `json:"prices"`
	Base
}

// monthLayout is the format of the month at the end of an identifier.
const monthLayout = "2006-01"

// marketPricesRef names the prices of a month of a series.
func marketPricesRef(org, series string, month time.Time) Ref {
	return KindMarketPrices.Ref(org, series+partMark+month.Format(monthLayout))
}

// Ref names the prices.
func (m *MarketPrices) Ref() Ref { return KindMarketPrices.Ref(m.OrganizationID, m.ID) }

// priceSteps is the number of steps in 1 $/kWh. A step is the smallest difference between
// prices. It is 0.00001 $/MWh, the finest resolution that operators publish.
const priceSteps = 1e8

// maxSteps bounds the steps of a month. It is the number of five-minute steps in 31
// days.
const maxSteps = 31 * 24 * 12

// packPrices encodes each price as a varint. A missing price is 0. Any other price is 1
// plus the zigzag of its difference to the previous price.
func packPrices(prices []float64) []byte {
	packed := make([]byte, 0, 2*len(prices))
	last := int64(0)
	for _, price := range prices {
		if math.IsNaN(price) {
			packed = append(packed, 0)
			continue
		}
		steps := int64(math.Round(price * priceSteps))
		difference := steps - last
		packed = binary.AppendUvarint(packed, 1+(uint64(difference<<1)^uint64(difference>>63))) //nolint:gosec // zigzag
		last = steps
	}
	return packed
}

// unpackPrices decodes the output of packPrices. A missing price is NaN.
func unpackPrices(packed []byte) ([]float64, error) {
	var prices []float64
	last := int64(0)
	for len(packed) > 0 {
		v, n := binary.Uvarint(packed)
		switch {
		case n <= 0:
			return nil, errors.New("a price is truncated")
		case len(prices) == maxSteps:
			return nil, fmt.Errorf("more than %d prices in a month", maxSteps)
		}
		packed = packed[n:]
		if v == 0 {
			prices = append(prices, math.NaN())
			continue
		}
		v--
		last += int64(v>>1) ^ -int64(v&1) //nolint:gosec // zigzag
		prices = append(prices, float64(last)/priceSteps)
	}
	return prices, nil
}
