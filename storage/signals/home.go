package signals

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gridhook/gridhook/storage"
)

// Home is the part of a stored home that its signal depends on.
type Home struct {
	ID       string `json:"-"`
	Revision uint64 `json:"-"` // of the home's last write

	Enabled    bool                          `json:"enabled"`
	Bids       bool                          `json:"energyMarketBiddingEnabled"` // on the market
	RatePlanID string                        `json:"ratePlanId"`
	Timezone   string                        `json:"timezone"`
	Zipcode    string                        `json:"zipcode"`
	Carbon     storage.CarbonSignalIntensity `json:"carbonSignalIntensity"`
}

func newHome(h *storage.Home) *Home {
	return &Home{
		ID: h.ID, Enabled: h.Enabled, RatePlanID: h.RatePlanID, Timezone: h.Timezone,
		Zipcode: h.Zipcode, Bids: h.EnergyMarketBiddingEnabled, Carbon: h.CarbonSignalIntensity,
	}
}

// Home decodes a home's record. The result is valid until the next call. Errors:
// storage.ErrNotFound for a tombstone, *HomeError.
func (r *Reader) Home(record storage.Record) (*Home, error) {
	if record.Deleted {
		return nil, storage.ErrNotFound
	}
	r.home = Home{}
	if err := decode(record, &r.home); err != nil {
		return nil, homeError(err)
	}
	r.home.ID, r.home.Revision = record.ID, record.Revision
	return &r.home, nil
}

// system is the part of stored solar that a signal depends on.
type system struct {
	SizeKw        float64 `json:"solarSystemSizeKw"`
	NonNetMetered bool    `json:"isNonNetMetered"`
	storage.SolarSettings
}

// decode decodes only the needed part of a record, because a walk reads every home of an
// organization. The store wrote the record, so it has no duplicate names.
func decode(record storage.Record, part any) error {
	if err := json.Unmarshal(record.Value, part, jsontext.AllowDuplicateNames(true)); err != nil {
		return &storage.DecodeError{Ref: record.Ref, Err: fmt.Errorf("at revision %d does not decode: %w", record.Revision, err)}
	}
	return nil
}
