// Package zone finds the climate zone of a county of the United States. The zones are
// from the International Energy Conservation Code, with the moisture regime, such as
// "5A".
//
// The package may import only the standard library and package plain. It does no I/O.
package zone

import (
	"strings"

	"github.com/gridhook/gridhook/pricing/internal/plain"
)

// Of returns the zone of a county, empty if unknown. zones has the counties of the 48
// states by Key. Alaska's zones are from the code's table R301.1.
func Of(state, county string, zones map[string]string) string {
	key := Key(state, county)
	switch state {
	case "HI", "PR", "VI", "GU", "AS", "MP":
		return "1A"
	case "DC":
		return "4A"
	case "AK":
		if arctic[strings.TrimPrefix(key, "AK ")] {
			return "8"
		}
		return "7"
	}
	return zones[key]
}

// arctic are the parts of Alaska in zone 8; all others are in zone 7.
var arctic = map[string]bool{
	"bethel": true, "dillingham": true, "fairbanksnorthstar": true, "kusilvak": true, "nome": true, "northslope": true,
	"northwestarctic": true, "southeastfairbanks": true, "wadehampton": true, "yukonkoyukuk": true,
}

// Key returns a county's name in a form that is equal across sources. A city has the zone
// of the county with its name.
func Key(state, county string) string {
	return state + " " + strings.TrimSuffix(plain.County(county), "city")
}
