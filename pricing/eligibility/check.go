package eligibility

import "slices"

// Result is the outcome of an eligibility check.
type Result struct {
	Supported              bool     `json:"supported" doc:"Whether the price of a home there can be known." example:"true"`
	WholesaleMarket        bool     `json:"wholesaleMarket" doc:"Whether it lies in an organized wholesale market." example:"true"`
	TariffData             bool     `json:"tariffData" doc:"Whether rate plans of a utility there are at hand." example:"true"`
	DemandResponsePrograms []string `json:"demandResponsePrograms" doc:"The names of the programs that homes there may take part in." example:"[\"Peak Time Savings\"]"`
	Reason                 string   `json:"reason" doc:"What is known, and how." example:"Commonwealth Edison Co serves 60614, in the market of PJM."`
}

// Checker runs eligibility checks. It only reads its fields, so it is safe for concurrent
// use while nobody changes them. The zero Checker has the embedded facts alone.
type Checker struct {
	// HasTariffs reports whether residential rate plans of a utility are available, by its EIA
	// id. If nil, there are none.
	HasTariffs func(eiaID int) bool
	// Overrides, if not nil, correct the embedded facts.
	Overrides Overrides
}

// Check reports whether a home in the zipcode can be supported, and why.
//
// A home is supported if its price can be known. Either a utility of the zipcode has
// available rate plans, or the zipcode is in a wholesale market. The operator's setting
// for an area takes precedence. An unknown zipcode is not supported, and is not an error.
// A malformed zipcode has the same result, although callers reject it earlier. Check also
// returns the facts of the zipcode, as Area does.
func (c *Checker) Check(zipcode string) (Result, Area) {
	area, found := c.Area(zipcode)
	code := area.Code
	if code == "" {
		return refused("The zipcode has not the form of a US zipcode such as 60614."), area
	}
	said := c.specific((*Correction).Decides, code, code[:prefixDigits], area.State)
	if !found && said == nil {
		return refused(unknownReason(code)), area
	}
	r := Result{
		WholesaleMarket:        area.Market != "",
		TariffData:             c.HasTariffs != nil && slices.ContainsFunc(area.Utilities, func(u Utility) bool { return c.HasTariffs(u.EIAID) }),
		DemandResponsePrograms: area.Programs(),
	}
	r.Supported = r.TariffData || r.WholesaleMarket
	r.Reason = reason(&area, &r)
	if said != nil {
		r.Supported, r.Reason = *said.Supported, operatorSays(said)+" "+r.Reason
	}
	return r, area
}

// Area returns all facts of a zipcode, with the overrides. It returns false if the
// zipcode is unknown. A territory override creates an area that the facts lack. The code of
// a malformed zipcode is empty.
func (c *Checker) Area(zipcode string) (Area, bool) {
	code, ok := Normalize(zipcode)
	if !ok {
		return Area{}, false
	}
	a := Area{Code: code}
	z := find(code)
	if z != nil {
		a = areaOf(code, z)
	}
	c.override(&a)
	return a, z != nil || a.overridden
}

// Programs returns the names of the area's demand-response programs, each once. The
// programs of its utilities come first. The programs of the wholesale market follow; a
// home joins them through an aggregator. A utility with enrolled customers but without a
// named program has a generic name.
func (a *Area) Programs() []string {
	names := []string{}
	add := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, u := range a.Utilities {
		add(u.Programs...)
		if len(u.Programs) == 0 && u.DemandResponseCustomers > 0 {
			add(u.Name + " residential demand response")
		}
	}
	for _, m := range known().Markets {
		if m.Name == a.Market {
			add(m.Programs...)
		}
	}
	return names
}

func refused(reason string) Result {
	return Result{DemandResponsePrograms: []string{}, Reason: reason}
}
