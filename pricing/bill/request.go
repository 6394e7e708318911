package bill

import (
	"slices"

	"github.com/gridhook/gridhook/pricing"
)

// Request selects the energy of a bill and its rules. Missing fields have defaults.
type Request struct {
	Load         []float64 `json:"loadKwh,omitempty" maxItems:"35136" itemsMinimum:"-1000000" itemsMaximum:"1000000" doc:"The used energy of each step, in kWh. A value below 0 is exported energy. Without loadKwh, annualKwh is distributed like a typical load at the home's place."`
	Generated    []float64 `json:"generatedKwh,omitempty" maxItems:"35136" itemsMinimum:"-1000000" itemsMaximum:"1000000" doc:"The generated energy of each step of loadKwh, in kWh. Without it, the home's solar generates as in a typical year, unless loadKwh has a start or values below 0."`
	StepMinutes  int       `json:"stepMinutes,omitempty" minimum:"15" maximum:"60" doc:"The length of a step: 15, 30 or 60. By default loadKwh covers a year."`
	Start        string    `json:"start,omitempty" format:"date" doc:"The first day of loadKwh, by the home's calendar. Without it, loadKwh is a typical year from 1 January."`
	CalendarYear int       `json:"calendarYear,omitempty" minimum:"1900" maximum:"2200" doc:"The year of a typical year's weekdays. A leap year if loadKwh has 366 days, and otherwise none. By default a year in which the rate plan is in force."`
	AnnualKWh    float64   `json:"annualKwh,omitempty" exclusiveMinimum:"0" maximum:"10000000" doc:"The used energy of a year. By default the home's assumed use, or 10,791 kWh, the mean of US homes."`

	SolarKW *float64 `json:"solarSystemSizeKw,omitempty" minimum:"0" maximum:"1000" doc:"The size of the solar system in kW, instead of the home's own. 0 for none."`
	Tilt    *float64 `json:"tilt,omitempty" minimum:"0" maximum:"90" doc:"The angle of the modules from the horizontal, in degrees."`
	Azimuth *float64 `json:"azimuth,omitempty" minimum:"0" maximum:"360" doc:"The direction of the modules, in degrees clockwise from north."`
	Losses  *float64 `json:"losses,omitempty" minimum:"0" maximum:"99" doc:"The losses by soiling, shading and wiring, in percent."`

	Rules
}

// Rules apply where the rate plan sets no rule, or override the plan's rules.
type Rules struct {
	Metering      Metering `json:"metering,omitempty" doc:"The settlement of solar. By default the settlement of the home's regime, or of the rate plan."`
	NonNetMetered bool     `json:"isNonNetMetered,omitempty" doc:"Whether the solar is outside of net metering, whatever the rate plan says."`
	Tiers         TierRule `json:"tierRule,omitempty" doc:"The count of tiers over several periods. RUNNING_TOTAL, the default, is the rule of the price signal. PRORATED is the rule of SAM and BEopt."`
	Rollover      Rollover `json:"carryOver,omitempty" doc:"The rollover of credits into the next month. NONE pays them at once. By default DOLLARS under net metering, otherwise NONE."`
	TrueUpMonth   int      `json:"trueUpMonth,omitempty" minimum:"1" maximum:"12" doc:"The month at whose end credits are settled, by default the last month of the bill."`
	CreditMonths  int      `json:"creditMonths,omitempty" minimum:"1" maximum:"1200" doc:"The number of months after which credits in dollars expire."`
	SurplusRate   float64  `json:"surplusRate,omitempty" minimum:"-100" maximum:"100" doc:"The price that the settlement pays for each kWh of surplus, in $/kWh."`
	SurplusRetail bool     `json:"surplusRetail,omitempty" doc:"Whether the settlement pays all remaining credits in full. Not available with carryOver KWH."`
	FeedInRate    float64  `json:"feedInRate,omitempty" minimum:"-100" maximum:"100" doc:"The price of feed-in for each generated kWh, in $/kWh, instead of the plan's sell rates."`
	Minimum       *float64 `json:"minimumCharge,omitempty" minimum:"0" maximum:"1000000" doc:"The minimum charge in $, instead of the plan's."`
	MinimumUnit   string   `json:"minimumChargeUnit,omitempty" enum:"day,month,year" doc:"The period of minimumCharge, by default month."`
	GridFee       float64  `json:"gridFee,omitempty" minimum:"0" maximum:"1000000" doc:"The monthly grid fee of a home with solar, in $."`
	GridFeePerKW  float64  `json:"gridFeePerKw,omitempty" minimum:"0" maximum:"1000000" doc:"The monthly grid fee of a home with solar for each kW, in $."`
}

// Meterings returns all values of Metering.
func Meterings() []Metering { return []Metering{NetMetering, NetBilling, FeedIn} }

// TierRules returns all values of TierRule.
func TierRules() []TierRule { return []TierRule{RunningTotal, Prorated} }

// Rollovers returns all values of Rollover.
func Rollovers() []Rollover { return []Rollover{None, Dollars, Energy} }

// check returns a *pricing.InvalidError for an unusable rule.
func (r *Rules) check() error {
	switch {
	case r.Metering != "" && !slices.Contains(Meterings(), r.Metering):
		return pricing.Invalid("metering", "must be one of %v, not %q", Meterings(), r.Metering)
	case r.Tiers != "" && !slices.Contains(TierRules(), r.Tiers):
		return pricing.Invalid("tierRule", "must be one of %v, not %q", TierRules(), r.Tiers)
	case r.Rollover != "" && !slices.Contains(Rollovers(), r.Rollover):
		return pricing.Invalid("carryOver", "must be one of %v, not %q", Rollovers(), r.Rollover)
	case r.TrueUpMonth < 0 || r.TrueUpMonth > 12:
		return pricing.Invalid("trueUpMonth", "must be from 1 to 12, not %d", r.TrueUpMonth)
	case r.SurplusRetail && r.Rollover == Energy:
		return pricing.Invalid("surplusRetail", "settles credits in dollars, but carryOver KWH has credits in kWh: name surplusRate instead")
	case r.CreditMonths < 0:
		return pricing.Invalid("creditMonths", "must be at least 1, not %d", r.CreditMonths)
	case r.MinimumUnit != "" && !slices.Contains([]string{"day", "month", "year"}, r.MinimumUnit):
		return pricing.Invalid("minimumChargeUnit", "must be day, month or year, not %q", r.MinimumUnit)
	}
	return nil
}
