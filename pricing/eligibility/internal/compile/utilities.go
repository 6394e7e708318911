package compile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// register is what is known of the utilities.
type register struct {
	utilities map[string]facts.Utility // by EIA id
	sales     map[string]int           // MWh of 2018
	wholesale map[[2]string]row        // by EIA id and state: balancing authority and ISO
	markets   map[string]string        // by EIA id: the one RTO that the utility reports; none if several
	programs  struct {
		ByUtility map[string][]string `json:"by_eia_id"`
		ByMarket  map[string][]string `json:"by_iso"`
	}
}

// successors are utilities of the look-up of 2011 that have merged into another.
var successors = map[string]string{
	"11522": "1179",  // Maine Public Service, in Emera Maine since 2014
	"20455": "54913", // Western Massachusetts Electric, in NSTAR Electric since 2017
	"55936": "11241", // Entergy Gulf States Louisiana, in Entergy Louisiana since 2015
}

// pricingKinds are the columns of residential dynamic pricing and their words.
var pricingKinds = []struct{ column, words string }{
	{"residential_time_of_use", "time-of-use"},
	{"residential_real_time_pricing", "real-time pricing"},
	{"residential_variable_peak_pricing", "variable peak pricing"},
	{"residential_critical_peak_pricing", "critical peak pricing"},
	{"residential_critical_peak_rebate", "critical peak rebate"},
}

func newRegister(files fs.FS) (*register, error) {
	r := &register{
		utilities: map[string]facts.Utility{}, sales: map[string]int{},
		wholesale: map[[2]string]row{}, markets: map[string]string{},
	}
	data, err := fs.ReadFile(files, "dr/dr_programs_seed.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r.programs); err != nil {
		return nil, fmt.Errorf("dr_programs_seed.json: %w", err)
	}
	// The newest name wins, and what was reported in 2018 stays.
	for _, source := range []struct{ file, id, market string }{
		{"geo/zip_utility_names.csv", "eia_id", ""},
		{"utilities.csv", "eia_utility_id", "rtos"},
		{"geo/eia861_2024_utilities.csv", "eia_id", "rto"},
	} {
		rows, err := table(files, source.file)
		if err != nil {
			return nil, err
		}
		for _, line := range rows {
			r.add(line[source.id], line, line[source.market])
		}
	}
	rows, err := table(files, "geo/utility_ba_iso.csv")
	if err != nil {
		return nil, err
	}
	for _, line := range rows {
		r.wholesale[[2]string{line["eia_id"], line["state"]}] = line
	}
	return r, nil
}

func (r *register) add(id string, line row, market string) {
	number, err := strconv.Atoi(id)
	if err != nil || number <= 0 {
		return // sums such as "Adjustment" have negative numbers
	}
	u := r.utilities[id]
	u.EIAID, u.Name, u.Programs = number, line["name"], r.programs.ByUtility[id]
	u.Ownership = line["ownership"]
	if n := line.number("residential_demand_response_customers"); n > 0 {
		u.Responds = n
	}
	if n := line.number("residential_pv_net_metering_customers"); n > 0 {
		u.NetMeters = n
	}
	for _, kind := range pricingKinds {
		if line[kind.column] == "Y" {
			u.Pricing = append(u.Pricing, kind.words)
		}
	}
	r.utilities[id] = u
	if n := line.number("total_sales_mwh"); n > 0 {
		r.sales[id] = n
	}
	if market != "" {
		r.markets[id] = market
	}
}

// delivers reports whether homes take their power from the utility, as against a
// seller over its lines, a federal or wholesale supplier, or one without a name.
func (r *register) delivers(id string) bool {
	u, ok := r.utilities[id]
	if !ok {
		return false
	}
	switch u.Ownership {
	case "Investor Owned", "Cooperative", "Municipal", "Political Subdivision", "State":
		return true
	}
	return false
}

// wiresOnly reports whether an investor-owned utility sells nothing itself under
// its row, so that its rank among the county's by sales says nothing.
func (r *register) wiresOnly(id string) bool {
	return r.utilities[id].Ownership == "Investor Owned" && r.sales[id] == 0
}

// market is the wholesale market and the balancing authority of a utility in a
// state, and whether anything at all is known of them.
func (r *register) market(id, state string) (market, authority string, known bool) {
	line, listed := r.wholesale[[2]string{id, state}]
	if listed && (line["ba_code_2018"] != "" || line["iso"] != "") {
		return line["iso"], line["ba_code_2018"], true
	}
	switch reported := r.markets[id]; {
	case reported == "" || strings.ContainsAny(reported, "| "):
		return "", "", false
	case reported == "OTHER":
		return "", "", true
	default:
		return reported, "", true
	}
}
