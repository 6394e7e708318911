package signals

import (
	"strconv"

	"github.com/gridhook/gridhook/storage"
)

// Home is the part of a stored home that its signal depends on.
type Home struct {
	OrganizationID string
	ID             string
	Revision       uint64 // of the home's last write

	Enabled    bool
	Bids       bool // on the market
	RatePlanID string
	Timezone   string
	Zipcode    string
	Carbon     storage.CarbonSignalIntensity
}

func newHome(h *storage.Home) *Home {
	return &Home{
		OrganizationID: h.OrganizationID, ID: h.ID, Enabled: h.Enabled, RatePlanID: h.RatePlanID, Timezone: h.Timezone,
		Zipcode: h.Zipcode, Bids: h.EnergyMarketBiddingEnabled, Carbon: h.CarbonSignalIntensity,
	}
}

// Home reads a home's record. It is valid until the next one is read. Errors:
// storage.ErrNotFound for a tombstone.
func (r *Reader) Home(record storage.Record) (*Home, error) {
	if record.Deleted {
		return nil, storage.ErrNotFound
	}
	h := &r.home
	if !h.read(record.Value) {
		stored, err := storage.Decode[storage.Home](record)
		if err != nil {
			return nil, err
		}
		*h = *newHome(&stored)
	}
	h.OrganizationID, h.ID, h.Revision = record.Org, record.ID, record.Revision
	return h, nil
}

// read takes a home as the store writes it, and reports whether it could: walks
// read every home of an organization, and encoding/json takes most of their time.
func (h *Home) read(value []byte) bool {
	h.Enabled, h.Bids = false, false
	plan, timezone, zipcode, carbon := h.RatePlanID, h.Timezone, h.Zipcode, h.Carbon
	h.RatePlanID, h.Timezone, h.Zipcode, h.Carbon = "", "", "", ""
	return members(value, func(name, value []byte) {
		switch string(name) {
		case "enabled":
			h.Enabled = string(value) == "true"
		case "energyMarketBiddingEnabled":
			h.Bids = string(value) == "true"
		case "ratePlanId":
			h.RatePlanID = reuse(plan, value)
		case "timezone":
			h.Timezone = reuse(timezone, value)
		case "zipcode":
			h.Zipcode = reuse(zipcode, value)
		case "carbonSignalIntensity":
			h.Carbon = storage.CarbonSignalIntensity(reuse(string(carbon), value))
		}
	})
}

// decodeSolar reads a record of solar, its settings and size alone where it is as
// the store writes it.
func decodeSolar(record storage.Record) (storage.Solar, error) {
	var s storage.Solar
	sound := true
	number := func(value []byte) float64 {
		v, err := strconv.ParseFloat(string(value), 64)
		sound = sound && err == nil
		return v
	}
	known := members(record.Value, func(name, value []byte) {
		switch string(name) {
		case "solarSystemSizeKw":
			s.SizeKw = number(value)
		case "isNonNetMetered":
			s.NonNetMetered = string(value) == "true"
		case "tilt":
			v := number(value)
			s.Tilt = &v
		case "azimuth":
			v := number(value)
			s.Azimuth = &v
		case "losses":
			v := number(value)
			s.Losses = &v
		case "exportValues":
			s.ExportValues = string(value)
		}
	})
	if !known || !sound {
		return storage.Decode[storage.Solar](record)
	}
	return s, nil
}
