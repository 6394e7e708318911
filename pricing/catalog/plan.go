package catalog

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/gridhook/gridhook/pricing/internal/embedded"
)

// Plan is a residential rate plan.
type Plan struct {
	Summary
	SourceDate string `json:"sourceDate"`      // day of the newest source
	Newer      string `json:"newer,omitempty"` // ID of a plan of the same schedule with a newer source
	Checked    bool   `json:"-"`               // checked by itself against its source
	// URDB is the plan as a rate of the US Utility Rate Database, in JSON, with all its
	// versions. The label is the database's label if the plan has one, and otherwise the
	// plan's ID.
	URDB []byte `json:"-"`
}

// Summary says what a plan is, without its rates.
type Summary struct {
	ID       string `json:"id" example:"pge-e-elec"`
	Utility  string `json:"utility" example:"Pacific Gas & Electric Co"`
	EIAID    int    `json:"eiaId" doc:"The utility's number at the US Energy Information Administration." example:"14328"`
	State    string `json:"state" example:"CA"` // two letters; empty if not given
	Name     string `json:"name" example:"E-ELEC"`
	Timezone string `json:"timezone" example:"America/Los_Angeles"`
	Source   string `json:"source" doc:"Where the rates were published." example:"https://acme-electric.example/tariffs"`
	Caveat   string `json:"caveat" doc:"Why the rates may be inaccurate. Empty if there is no reason." example:""`
}

//go:embed plans.bin
var packed []byte

var plans = sync.OnceValue(func() []Plan { return embedded.Decode[[]Plan]("plans.bin", packed) })

// All returns all plans of the package: first the checked plans from tariff sheets, then the
// other schedules of the same utilities, then the residential rates of the US catalog by
// state, utility and name. Do not change them.
func All() []Plan { return plans() }

// Plans returns the checked plans, in a fixed order. Do not change them.
func Plans() []Plan {
	return slices.Clip(All()[:slices.IndexFunc(All(), func(p Plan) bool { return !p.Checked })])
}
