package storage

// CarbonSignalIntensity is how strongly the home's price follows marginal emissions.
type CarbonSignalIntensity string

// The intensities. CarbonLow adds nothing to the price.
const (
	CarbonLow    CarbonSignalIntensity = "LOW"
	CarbonMedium CarbonSignalIntensity = "MEDIUM"
	CarbonHigh   CarbonSignalIntensity = "HIGH"
)

// Home is a place whose electricity has a price. Its JSON form is the service's.
type Home struct {
	ID string `json:"id" pattern:"id" example:"home_1"`
	Base
	Name                       string                `json:"name" maxLength:"255" example:"At the lake"`
	UserID                     string                `json:"userId" maxLength:"255" doc:"The partner's name for the user." example:"user_1"`
	UtilityID                  string                `json:"UtilityId" maxLength:"255" doc:"The partner's name for the utility." example:"4110"`
	RatePlanID                 string                `json:"ratePlanId" pattern:"idOrEmpty" doc:"The rate plan of the home. A home without a rate plan cannot be priced." example:"plan_1"`
	UnstructuredAddress        *string               `json:"unstructuredAddress" maxLength:"500" example:"null"`
	Timezone                   string                `json:"timezone" maxLength:"64" doc:"An IANA name such as America/Chicago. The tariff's hours follow the home's wall clock." example:"America/Chicago"`
	Country                    string                `json:"country" maxLength:"64" example:"US"`
	City                       string                `json:"city" maxLength:"255" example:"Chicago"`
	Zipcode                    string                `json:"zipcode" pattern:"zipcodeOrEmpty" doc:"A US zipcode such as 60614, or empty." example:"60614"`
	StreetAddress              string                `json:"streetAddress" maxLength:"255" example:"1 Lake Street"`
	MeterID                    *string               `json:"meterId" maxLength:"500" example:"null"`
	MeterIDSource              *string               `json:"meterIdSource" maxLength:"500" doc:"The source of meterId." example:"null"`
	EnergyMarketBiddingEnabled bool                  `json:"energyMarketBiddingEnabled" doc:"Whether the home may take part in bids on the energy market."`
	Enabled                    bool                  `json:"enabled" doc:"Whether the home is to be optimized." example:"true"`
	CarbonSignalIntensity      CarbonSignalIntensity `json:"carbonSignalIntensity" doc:"How strongly the price follows marginal emissions. LOW adds nothing."`
	ChannelPartnerID           *string               `json:"channelPartnerId" maxLength:"500" doc:"The channel partner of the home." example:"null"`
}

// NewHome returns a home with the default values.
func NewHome(org string) Home {
	return Home{Country: "US", Enabled: true, CarbonSignalIntensity: CarbonLow, Base: Base{OrganizationID: org}}
}

// Ref names the home.
func (h *Home) Ref() Ref { return KindHome.Ref(h.OrganizationID, h.ID) }

// Check adds every wrong field.
func (h *Home) Check(p *Problems) {
	if h.Timezone != "" {
		checkLocation(p, h.Timezone)
	}
	checkEnum(p, "carbonSignalIntensity", h.CarbonSignalIntensity, CarbonLow, CarbonMedium, CarbonHigh)
}
