package storage

import "github.com/gridhook/gridhook/pricing/market"

// HomeMarket is the market that a home which bids sells at, where its rate plan
// names none.
type HomeMarket struct {
	HomeID string      `json:"homeId"`
	Node   string      `json:"node"`
	Market market.Kind `json:"market"`
	Base
}

// HomeMarketRef names the market of a home.
func HomeMarketRef(org, homeID string) Ref { return Ref{KindHomeMarket, org, homeID} }

// Ref names the market, by its home.
func (m *HomeMarket) Ref() Ref { return HomeMarketRef(m.OrganizationID, m.HomeID) }

// Validate names every wrong field.
func (m *HomeMarket) Validate() error {
	var p Problems
	checkID(&p, "homeId", m.HomeID)
	checkMarket(&p, m.Node, m.Market)
	return p.Err()
}
