package eligibility

// RetailChoice is the right of homes to buy energy from a seller other than the
// delivering utility.
type RetailChoice string

// The values of RetailChoice.
const (
	FullChoice    RetailChoice = "full"    // every home of an investor-owned utility
	LimitedChoice RetailChoice = "limited" // through the community choice aggregator of the home's town
)

// choices are the states with residential retail choice in 2022. Source: EIA, frequently
// asked question 627, "Can electric utility customers choose their electricity supplier?"
// Michigan and Virginia have retail choice for other customers only. In general homes of
// cooperatives and municipal utilities have no choice.
var choices = map[string]RetailChoice{
	"CT": FullChoice, "DC": FullChoice, "DE": FullChoice, "IL": FullChoice, "MA": FullChoice, "MD": FullChoice, "ME": FullChoice,
	"NH": FullChoice, "NJ": FullChoice, "NY": FullChoice, "OH": FullChoice, "PA": FullChoice, "RI": FullChoice, "TX": FullChoice,
	"CA": LimitedChoice,
}

// outsideERCOT are investor-owned utilities of Texas without retail choice, by EIA id.
var outsideERCOT = map[int]bool{55937: true, 5701: true, 17698: true, 17718: true} // Entergy, El Paso, SWEPCO, SPS

// Choice returns the retail choice of the main utility's homes; empty means no choice.
func (a *Area) Choice() RetailChoice {
	if len(a.Utilities) == 0 {
		return ""
	}
	main := &a.Utilities[0]
	if main.Ownership != "Investor Owned" || a.State == "TX" && outsideERCOT[main.EIAID] {
		return ""
	}
	return choices[a.State]
}

func choiceWords(a *Area) string {
	switch a.Choice() {
	case FullChoice:
		return "Homes of " + a.Utilities[0].Name + " may choose their seller of energy (retail choice, EIA 2022); its rate plan may be another than the utility's."
	case LimitedChoice:
		return "Some homes of " + a.Utilities[0].Name + " may have another seller of energy (limited retail choice, EIA 2022)."
	}
	return ""
}
