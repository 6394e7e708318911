package storage

import "github.com/gridhook/gridhook/pricing/market"

// HomeMarket is the market where a bidding home sells energy, if its rate plan names no
// market.
type HomeMarket struct {
	HomeID string      `json:"homeId" pattern:"id"`
	Node   string      `json:"node" minLength:"1" maxLength:"64"`
	Market market.Kind `json:"market" enum:"DAY_AHEAD,REAL_TIME"`
	Base
}

// Ref names the market by its home.
func (m *HomeMarket) Ref() Ref { return KindHomeMarket.Ref(m.OrganizationID, m.HomeID) }

// Check adds every wrong field.
func (m *HomeMarket) Check(p *Problems) {
	checkMarket(p, m.Node, m.Market)
}
