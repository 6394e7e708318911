package compile

// successors maps merged utilities of the look-up, or of the territories of 2018, to
// their successors. The register of Form EIA-861 of 2024 has every successor and none of
// the merged utilities. SOURCES.md names the source of each merger.
var successors = map[string]string{
	"11522": "1179",  // Maine Public Service, in Emera Maine since 2014, now Versant Power
	"55936": "11241", // Entergy Gulf States Louisiana, in Entergy Louisiana since 2015
	"20455": "54913", // Western Massachusetts Electric, in NSTAR Electric since 2017
	"11693": "66073", // Marlboro and Pee Dee of South Carolina, in MPD since 2020
	"14557": "66073",
	"599":   "3522",  // Anchorage Municipal Light and Power, in Chugach since 2020
	"7801":  "6452",  // Gulf Power, in Florida Power & Light since 2021
	"14711": "66101", // Penelec, Met-Ed, Penn Power and West Penn Power, in FirstEnergy Pennsylvania since 2024
	"12390": "66101",
	"14716": "66101",
	"20387": "66101",
}

// principals are the main utilities of some counties. The look-up has few rows of them or
// none, and another utility has more sales in its counties. SOURCES.md names the sources.
var principals = map[string]string{
	"AZ cochise":  "18280", // SSVEC, which serves most of its towns
	"OH cuyahoga": "3755",  // The Illuminating Company
	"OH franklin": "14006", // AEP Ohio
	"TX dallas":   "44372", // Oncor
}

// laterPrograms are programs that the list compiled by hand lacks. They are PacifiCorp's
// programs in Utah only. SOURCES.md names the sources.
var laterPrograms = map[string][]string{
	"14354": {"UT:Rocky Mountain Power Cool Keeper", "UT:Rocky Mountain Power Wattsmart Battery"},
}

// correctedPrograms replaces names of the list compiled by hand. An empty name removes a
// program that is closed to new homes, is no demand response, or has no known source.
// SOURCES.md names the source of every other program.
var correctedPrograms = map[string]string{
	"Con Edison Smart Usage Rewards (BYOT)": "Con Edison Smart Usage Rewards",
	"PECO Smart AC Saver":                   "", // closed to new homes in 2020
	"PSE&G Smart Thermostat":                "", // a rebate on the purchase
	"SPP DRR":                               "", // no source found
}

// correctPrograms returns the corrected names of a list of programs.
func correctPrograms(names []string) (corrected []string) {
	for _, name := range names {
		if better, ok := correctedPrograms[name]; ok {
			name = better
		}
		if name != "" {
			corrected = append(corrected, name)
		}
	}
	return corrected
}
