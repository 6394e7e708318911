package storage

import "regexp"

// CarbonSignalIntensity is how much the home's price follows marginal emissions.
type CarbonSignalIntensity string

// The intensities. CarbonLow adds nothing to the price.
const (
	CarbonLow    CarbonSignalIntensity = "LOW"
	CarbonMedium CarbonSignalIntensity = "MEDIUM"
	CarbonHigh   CarbonSignalIntensity = "HIGH"
)

// Home is a place whose electricity has a price. The JSON form is the service's.
type Home struct {
	ID string `json:"id"`
	Base
	Name                       string                `json:"name"`
	UserID                     string                `json:"userId"`
	UtilityID                  string                `json:"UtilityId"`
	RatePlanID                 string                `json:"ratePlanId"`
	UnstructuredAddress        *string               `json:"unstructuredAddress"`
	Timezone                   string                `json:"timezone"`
	Country                    string                `json:"country"`
	City                       string                `json:"city"`
	Zipcode                    string                `json:"zipcode"`
	StreetAddress              string                `json:"streetAddress"`
	MeterID                    *string               `json:"meterId"`
	MeterIDSource              *string               `json:"meterIdSource"`
	EnergyMarketBiddingEnabled bool                  `json:"energyMarketBiddingEnabled"`
	Enabled                    bool                  `json:"enabled"`
	CarbonSignalIntensity      CarbonSignalIntensity `json:"carbonSignalIntensity"`
	ChannelPartnerID           *string               `json:"channelPartnerId"`
}

// NewHome is a home with the defaults that apply where nothing is said.
func NewHome(org string) Home {
	h := Home{Country: "US", Enabled: true, CarbonSignalIntensity: CarbonLow}
	h.OrganizationID = org
	return h
}

var zipcode = regexp.MustCompile(`^(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?$`)

// ValidZipcode reports whether s has the form of a zipcode.
func ValidZipcode(s string) bool { return zipcode.MatchString(s) }

// HomeRef names a home.
func HomeRef(org, id string) Ref { return Ref{KindHome, org, id} }

// Ref names the home.
func (h *Home) Ref() Ref { return HomeRef(h.OrganizationID, h.ID) }

// Validate names every wrong field.
func (h *Home) Validate() error {
	var p Problems
	checkID(&p, "id", h.ID)
	checkText(&p, "name", h.Name, 0, 255)
	checkText(&p, "userId", h.UserID, 0, 255)
	checkText(&p, "UtilityId", h.UtilityID, 0, 255)
	checkOptionalID(&p, "ratePlanId", h.RatePlanID)
	if h.Timezone != "" {
		_, ok := Location(h.Timezone)
		p.Check(ok, "timezone", "must be an IANA time zone name such as America/Chicago")
	}
	checkText(&p, "country", h.Country, 0, 64)
	checkText(&p, "city", h.City, 0, 255)
	p.Check(h.Zipcode == "" || ValidZipcode(h.Zipcode), "zipcode", "must be a US zipcode such as 60614")
	checkText(&p, "streetAddress", h.StreetAddress, 0, 255)
	checkOptionalText(&p, "unstructuredAddress", h.UnstructuredAddress)
	checkOptionalText(&p, "meterId", h.MeterID)
	checkOptionalText(&p, "meterIdSource", h.MeterIDSource)
	checkOptionalText(&p, "channelPartnerId", h.ChannelPartnerID)
	checkEnum(&p, "carbonSignalIntensity", h.CarbonSignalIntensity, CarbonLow, CarbonMedium, CarbonHigh)
	return p.Err()
}
