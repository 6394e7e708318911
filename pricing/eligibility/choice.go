package eligibility

// choices are the states with residential retail choice in 2022: the right of homes to buy
// energy from a seller other than the delivering utility. It is full for every home of an
// investor-owned utility, or limited to the community choice aggregator of the home's town.
// Source: EIA, frequently asked question 627, "Can electric utility customers choose their
// electricity supplier?" Michigan and Virginia have retail choice for other customers only.
// In general homes of cooperatives and municipal utilities have no choice.
var choices = map[string]struct{ limited bool }{
	"CT": {}, "DC": {}, "DE": {}, "IL": {}, "MA": {}, "MD": {}, "ME": {}, "NH": {}, "NJ": {}, "NY": {}, "OH": {}, "PA": {}, "RI": {}, "TX": {},
	"CA": {limited: true},
}

// outsideERCOT are investor-owned utilities of Texas without retail choice, by EIA id.
var outsideERCOT = map[int]bool{55937: true, 5701: true, 17698: true, 17718: true} // Entergy, El Paso, SWEPCO, SPS

// choiceWords describes the retail choice of the main utility's homes. They are empty
// without a choice.
func choiceWords(a *Area) string {
	choice, ok := choices[a.State]
	if !ok || len(a.Utilities) == 0 {
		return ""
	}
	main := &a.Utilities[0]
	switch {
	case main.Ownership != "Investor Owned" || a.State == "TX" && outsideERCOT[main.EIAID]:
		return ""
	case choice.limited:
		return "Some homes of " + main.Name + " may have another seller of energy (limited retail choice, EIA 2022)."
	}
	return "Homes of " + main.Name + " may choose their seller of energy (retail choice, EIA 2022); its rate plan may be another than the utility's."
}
