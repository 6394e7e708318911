package eligibility

import "slices"

// Result is the service's eligibility result.
type Result struct {
	Supported              bool     `json:"supported"`
	WholesaleMarket        bool     `json:"wholesaleMarket"`
	TariffData             bool     `json:"tariffData"`
	DemandResponsePrograms []string `json:"demandResponsePrograms"` // never nil
	Reason                 string   `json:"reason"`                 // what is known, and how
}

// Options is what a Checker knows beside the embedded facts.
type Options struct {
	// Tariffs are the EIA ids of the utilities of which residential rate plans are
	// at hand. It is read, never written, so it may be shared.
	Tariffs   map[int]bool
	Overrides Overrides
}

// Checker answers eligibility checks. It is immutable and safe for concurrent
// use.
type Checker struct {
	tariffs   map[int]bool
	overrides overrides
}

// New is a Checker. The error is an *OverridesError that names every wrong field.
func New(o Options) (*Checker, error) {
	if err := o.Overrides.Validate(); err != nil {
		return nil, err
	}
	return &Checker{tariffs: o.Tariffs, overrides: newOverrides(o.Overrides)}, nil
}

// Check says whether a home in the zipcode can be supported, and why.
//
// A home is supported when its price can be known: a utility that serves the
// zipcode has rate plans at hand, or the zipcode lies in a wholesale market. The
// operator's word on an area goes before that. An unknown zipcode is not
// supported and is no error; one that has not the form of a zipcode is answered
// the same, though callers refuse it earlier.
func (c *Checker) Check(zipcode string) Result {
	code, ok := Normalize(zipcode)
	if !ok {
		return refused("The zipcode has not the form of a US zipcode such as 60614.")
	}
	area, found := c.area(code)
	said, saidSo := c.overrides.support(code, area.State)
	if !found && !saidSo {
		return refused(unknownReason(code))
	}
	r := Result{
		WholesaleMarket:        area.Market != "",
		TariffData:             slices.ContainsFunc(area.Utilities, c.hasTariffs),
		DemandResponsePrograms: area.Programs(),
	}
	r.Supported = r.TariffData || r.WholesaleMarket
	if saidSo {
		r.Supported = said.Supported
	}
	r.Reason = c.reason(&area, &r, said, saidSo)
	return r
}

// Area is everything known of a zipcode, with the overrides, and whether anything
// is.
func (c *Checker) Area(zipcode string) (Area, bool) {
	code, ok := Normalize(zipcode)
	if !ok {
		return Area{}, false
	}
	return c.area(code)
}

// area also gives an area of its own to a territory that the facts lack.
func (c *Checker) area(code string) (Area, bool) {
	f := known()
	a := Area{Code: code}
	zips := find(f, code)
	if len(zips) > 0 {
		a = areaOf(f, code, zips)
	}
	c.overrides.apply(&a, c.utility)
	return a, len(zips) > 0 || a.overridden
}

// utility finds a utility by its EIA id, the operator's own first.
func (c *Checker) utility(eiaID int) (Utility, bool) {
	if u, ok := c.overrides.utilities[eiaID]; ok {
		return u, true
	}
	utilities := known().Utilities
	for i := range utilities {
		if utilities[i].EIAID == eiaID {
			return utilityOf(utilities[i]), true
		}
	}
	return Utility{}, false
}

func (c *Checker) hasTariffs(u Utility) bool { return c.tariffs[u.EIAID] }

// Programs are the names of the demand-response programs of the area, each once:
// those of its utilities, and then those of the wholesale market, which a home
// enters through an aggregator. A utility without a known name that reported
// enrolled customers is named as having a program.
func (a *Area) Programs() []string {
	names := []string{}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, u := range a.Utilities {
		for _, name := range u.Programs {
			add(name)
		}
		if len(u.Programs) == 0 && u.DemandResponseCustomers > 0 {
			add(u.Name + " residential demand response")
		}
	}
	for _, name := range a.marketPrograms {
		add(name)
	}
	return names
}

func refused(reason string) Result {
	return Result{DemandResponsePrograms: []string{}, Reason: reason}
}
