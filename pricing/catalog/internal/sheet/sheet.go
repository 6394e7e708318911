// Package sheet is the compact form of a utility's tariff sheets by component. A version
// has the energy price of each season and period, the riders on all energy prices, and
// the baseline credit. The baseline allowances are by territory.
//
// The package may import only the standard library and does no I/O.
package sheet

// Sheets are the schedules of one utility.
type Sheets struct {
	Comment  []string            `json:"comment"`
	Utility  string              `json:"utility"`
	EIAID    int                 `json:"eiaId"`
	State    string              `json:"state"`
	Timezone string              `json:"timezone"`
	Holidays []string            `json:"holidays"`
	Baseline map[string]Baseline `json:"baseline"` // by territory
	Schedule []Schedule          `json:"schedules"`
}

// Baseline is an allowance, kWh a day.
type Baseline struct {
	Summer float64 `json:"summer"`
	Winter float64 `json:"winter"`
}

// Schedule is one rate schedule with its versions, oldest first.
type Schedule struct {
	Name     string    `json:"name"`
	Versions []Version `json:"versions"`
}

// Version is the state of a schedule from a day on. Summer is June to September.
type Version struct {
	From         string   `json:"from"`
	Source       string   `json:"source"`
	FixedDaily   float64  `json:"fixedDaily,omitempty"` // $/day
	Peak         [][2]int `json:"peak,omitempty"`       // hours, the last excluded
	PartPeak     [][2]int `json:"partPeak,omitempty"`
	WeekdaysOnly bool     `json:"weekdaysOnly,omitempty"` // the peak applies only on weekdays
	Summer       Season   `json:"summer"`
	Winter       Season   `json:"winter"`
	Riders       []Rider  `json:"riders"`
	Credit       float64  `json:"credit,omitempty"` // within the baseline, $/kWh
}

// Season holds the energy price of each period, generation and distribution together,
// $/kWh. A missing period is 0.
type Season struct {
	Peak     float64 `json:"peak,omitempty"`
	PartPeak float64 `json:"partPeak,omitempty"`
	OffPeak  float64 `json:"offPeak"`
}

// Rider is an adder to every kWh, $/kWh.
type Rider struct {
	Name string  `json:"name"`
	Rate float64 `json:"rate"`
}
