package compile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
)

// register holds the facts of the utilities.
type register struct {
	utilities map[string]facts.Utility // by EIA id
	sales     map[string]int           // MWh of 2018
	wholesale map[[2]string]row        // by EIA id and state: balancing authority and ISO
	markets   map[string]string        // by EIA id: RTO reported by the utility; several RTOs count as unknown
	programs  struct {
		ByUtility map[string][]string `json:"by_eia_id"`
		ByMarket  map[string][]string `json:"by_iso"`
	}
}

// pricingKinds maps the columns of residential dynamic pricing to words.
var pricingKinds = []struct{ column, words string }{
	{"residential_time_of_use", "time-of-use"},
	{"residential_real_time_pricing", "real-time pricing"},
	{"residential_variable_peak_pricing", "variable peak pricing"},
	{"residential_critical_peak_pricing", "critical peak pricing"},
	{"residential_critical_peak_rebate", "critical peak rebate"},
}

func newRegister(dir string) (*register, error) {
	r := &register{
		utilities: map[string]facts.Utility{}, sales: map[string]int{},
		wholesale: map[[2]string]row{}, markets: map[string]string{},
	}
	data, err := os.ReadFile(filepath.Join(dir, "dr", "dr_programs_seed.json")) //nolint:gosec // the directory is the developer's own
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r.programs); err != nil {
		return nil, fmt.Errorf("dr_programs_seed.json: %w", err)
	}
	for _, list := range []map[string][]string{r.programs.ByUtility, r.programs.ByMarket} {
		for id, names := range list {
			list[id] = correctPrograms(names)
		}
	}
	for id, names := range laterPrograms {
		r.programs.ByUtility[id] = append(r.programs.ByUtility[id], names...)
	}
	// The newest name wins, and reports of 2018 are retained.
	for _, source := range []struct{ file, id, market string }{
		{"geo/zip_utility_names.csv", "eia_id", ""},
		{"utilities.csv", "eia_utility_id", "rtos"},
		{"geo/eia861_2024_utilities.csv", "eia_id", "rto"},
	} {
		rows, err := table(dir, source.file)
		if err != nil {
			return nil, err
		}
		for _, line := range rows {
			r.add(line[source.id], line, line[source.market])
		}
	}
	rows, err := table(dir, "geo/utility_ba_iso.csv")
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
		u.DemandResponseCustomers = n
	}
	if n := line.number("residential_pv_net_metering_customers"); n > 0 {
		u.NetMeteringCustomers = n
	}
	for _, kind := range pricingKinds {
		if line[kind.column] == "Y" {
			u.DynamicPricing = append(u.DynamicPricing, kind.words)
		}
	}
	r.utilities[id] = u
	if n := line.number("total_sales_mwh"); n > 0 {
		r.sales[successor(id)] += n
	}
	if market != "" {
		r.markets[id] = market
	}
}

// delivers reports whether the utility delivers power to homes. Sellers over other lines,
// federal and wholesale suppliers, and utilities without a name do not deliver.
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

// wiresOnly reports whether an investor-owned utility has no sales of its own. Its rank
// by sales among the county's utilities is then meaningless.
func (r *register) wiresOnly(id string) bool {
	return r.utilities[id].Ownership == "Investor Owned" && r.sales[id] == 0
}

// market returns the wholesale market of a utility in a
// state. known is false if both are unknown.
func (r *register) market(id, state string) (market string, known bool) {
	line, listed := r.wholesale[[2]string{id, state}]
	if listed && (line["ba_code_2018"] != "" || line["iso"] != "") {
		return line["iso"], true
	}
	switch reported := r.markets[id]; {
	case reported == "" || strings.ContainsAny(reported, "| "):
		return "", false
	case reported == "OTHER":
		return "", true
	default:
		return reported, true
	}
}
