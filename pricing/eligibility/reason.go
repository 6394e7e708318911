package eligibility

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// reason describes the area's facts and their sources in a few sentences.
func reason(a *Area, r *Result) string {
	sentences := []string{whereabouts(a), servedBy(a), choiceWords(a), marketWords(a), tariffWords(a, r), reported(a)}
	if len(r.DemandResponsePrograms) > 0 {
		sentences = append(sentences, "Program names are from public pages, looked up in 2026; a program may have closed since.")
	}
	if a.overridden {
		sentences = append(sentences, "Some of this was set by the operator.")
	}
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

func operatorSays(s *Correction) string {
	words := "The operator supports " + s.Code
	if !*s.Supported {
		words = "The operator does not support " + s.Code
	}
	if s.Reason != "" {
		words += ": " + strings.TrimSuffix(s.Reason, ".")
	}
	return words + "."
}

func whereabouts(a *Area) string {
	switch {
	case a.zipcodes > 0:
		return fmt.Sprintf("%s is a prefix of %d zipcodes in %s (%s).", a.Code, a.zipcodes, a.State, a.Timezone)
	case a.City != "" && a.City == a.County:
		return fmt.Sprintf("%s is %s, %s (%s).", a.Code, a.City, a.State, a.Timezone)
	case a.City != "":
		return fmt.Sprintf("%s is %s, %s, %s (%s).", a.Code, a.City, a.County, a.State, a.Timezone)
	default:
		return a.Code + " is not in the table of zipcodes."
	}
}

// fewUtilities is the maximum number of utilities in a reason.
const fewUtilities = 3

func servedBy(a *Area) string {
	if len(a.Utilities) == 0 {
		return "No utility is known for it."
	}
	var names []string
	for _, u := range a.Utilities[:min(fewUtilities, len(a.Utilities))] {
		share := ""
		if u.Share > 0 && u.Share < 100 {
			share = fmt.Sprintf(", about %d %%", u.Share)
		}
		names = append(names, fmt.Sprintf("%s (EIA %d%s)", cmp.Or(u.Name, "a utility without a known name"), u.EIAID, share))
	}
	words := "Served by " + strings.Join(names, ", ")
	if more := len(a.Utilities) - fewUtilities; more > 0 {
		words += " and " + strconv.Itoa(more) + " more"
	}
	return words + basisWords(a) + "."
}

func basisWords(a *Area) string {
	const register = "; names and mergers by Form EIA-861 of 2024"
	switch {
	case a.overridden:
		return ""
	case a.basis == facts.ByZipcode:
		return ", by the OpenEI/NREL look-up of zipcodes of 2011 and 2020" + register
	case a.basis == facts.ByCounty:
		return ", which are those of the county by Form EIA-861 of 2018, as the look-up of zipcodes lacks it" + register
	}
	return ", by the OpenEI/NREL look-up of zipcodes of 2011 and 2020 and the county's territories of Form EIA-861 of 2018" + register
}

func marketWords(a *Area) string {
	switch {
	case a.Market != "":
		return "In the wholesale market of " + a.Market + " (Form EIA-861 of 2018 and 2024)."
	case len(a.Utilities) > 0:
		return "In no organized wholesale market that is known (Form EIA-861 of 2018 and 2024)."
	}
	return ""
}

func tariffWords(a *Area, r *Result) string {
	switch {
	case r.TariffData:
		return "Residential rate plans are at hand."
	case len(a.Utilities) > 0:
		return "No residential rate plan of these utilities is at hand; the operator can import one."
	}
	return ""
}

// reported describes the main utility's report to the EIA on residential customers.
func reported(a *Area) string {
	if len(a.Utilities) == 0 {
		return ""
	}
	u, facts := &a.Utilities[0], []string(nil)
	if len(u.DynamicPricing) > 0 {
		facts = append(facts, strings.Join(u.DynamicPricing, ", "))
	}
	if u.DemandResponseCustomers > 0 {
		facts = append(facts, strconv.Itoa(u.DemandResponseCustomers)+" customers in demand response")
	}
	if u.NetMeteringCustomers > 0 {
		facts = append(facts, strconv.Itoa(u.NetMeteringCustomers)+" homes with net-metered solar")
	}
	if len(facts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s reported for 2018: %s.", u.Name, strings.Join(facts, "; "))
}

// territory names the regions whose zipcodes are all missing from the facts.
var territory = map[string]string{
	"006": "Puerto Rico", "007": "Puerto Rico", "008": "the US Virgin Islands", "009": "Puerto Rico",
	"969": "Guam and the western Pacific", "340": "the armed forces", "090": "the armed forces",
	"091": "the armed forces", "092": "the armed forces", "093": "the armed forces", "094": "the armed forces",
	"095": "the armed forces", "096": "the armed forces", "097": "the armed forces", "098": "the armed forces",
	"962": "the armed forces", "963": "the armed forces", "964": "the armed forces", "965": "the armed forces",
	"966": "the armed forces",
}

func unknownReason(code string) string {
	if name, ok := territory[code[:prefixDigits]]; ok {
		return fmt.Sprintf("%s belongs to %s, which has no known utilities or markets; the operator can add them.", code, name)
	}
	return fmt.Sprintf("%s is not in the table of US zipcodes (GeoNames); the operator can add it.", code)
}
