package signals

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/storage"
)

// Program is a derived OpenADR program: the prices of a rate plan, or the marginal
// emissions of a grid region.
type Program struct {
	ID, Name string
	// RatePlanID is empty for emissions. Region is nil for prices.
	RatePlanID      string
	Region          *carbon.Region
	LongName        string
	Utility, State  string
	Location        *time.Location
	Created, Update time.Time
	// New reports whether the rate plan is unchanged since its creation.
	New bool
	// home is the home whose own signal the events have, nil for the prices of the plan.
	home *Home
}

// programFacts holds the values of a program that come from its rate plan.
type programFacts struct {
	name, utility string
	created       time.Time
	unchanged     bool
	composed      bool
	eiaID         int // number of the utility; 0 if not given, and for a composed plan
}

// regionZones has the time zone of each grid region with known emissions. It is the zone
// of most of the region.
var regionZones = map[string]string{
	"CA": "America/Los_Angeles", "CENT": "America/Chicago", "FL": "America/New_York", "MIDA": "America/New_York", "MIDW": "America/Chicago",
	"NCSC": "America/New_York", "NE": "America/New_York", "NW": "America/Los_Angeles", "NY": "America/New_York", "RM": "America/Denver",
	"SE": "America/New_York", "SW": "America/Phoenix", "TE": "America/Chicago", "TN": "America/Chicago",
	"AKGD": "America/Anchorage", "HIMS": "Pacific/Honolulu", "HIOA": "Pacific/Honolulu",
}

// EmissionsPrefix begins the identifiers of the emission programs.
const EmissionsPrefix = "MOER-"

// emissionPrograms returns the emission programs, which are the same for all
// organizations.
func emissionPrograms(since time.Time) (list []Program) {
	for code, zone := range regionZones {
		region, known := carbon.Named(code)
		location, ok := storage.Location(zone)
		if !known || !ok {
			continue
		}
		list = append(list, Program{
			ID: EmissionsPrefix + code, Name: EmissionsPrefix + code, Region: region, Location: location,
			LongName: "Marginal emissions of the grid region " + code, Created: since, Update: since,
		})
	}
	slices.SortFunc(list, func(a, b Program) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Programs returns the derived programs. There is a program for each of the organization's and
// the shared rate plans, sorted by identifier. Then follows a
// program for the emissions of each region. A rate plan has a program only if its time
// zone is known, from its utility's EIA number or from a home on the plan.
func (r *Reader) Programs() ([]Program, error) {
	owner, _, err := storage.Read[storage.Organization](r.view, storage.OrganizationRef(r.org))
	if storage.IgnoreNotFound(err) != nil {
		return nil, err
	}
	byID := map[string]Program{}
	for record, err := range storage.LiveOf(r.view, storage.KindRatePlan, storage.Shared, r.org) {
		if err != nil {
			return nil, err
		}
		p, ok, err := r.program(record)
		if err != nil {
			return nil, err
		}
		if ok {
			byID[record.ID] = p // an organization's own plan hides the shared one
		}
	}
	list := slices.SortedFunc(maps.Values(byID), func(a, b Program) int { return strings.Compare(a.ID, b.ID) })
	return append(list, emissionPrograms(owner.CreatedAt.Time)...), nil
}

// program returns the program of a rate plan's record. ok is false if the plan cannot be
// read or its place is unknown.
func (r *Reader) program(record storage.Record) (p Program, ok bool, err error) {
	facts, err := r.pricer.facts(record)
	if IsDataError(err) { // a broken plan must not hide the other plans
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	eiaID := facts.eiaID
	if facts.composed {
		if composed, err := r.plan(record.ID); err == nil {
			eiaID = composed.eiaID
		}
	}
	place := catalog.PlaceOf(eiaID)
	if place.Timezone == "" {
		if place, err = r.placeOfHomes(record.ID); err != nil {
			return p, false, err
		}
	}
	location, known := storage.Location(place.Timezone)
	if !known {
		return p, false, nil
	}
	p = Program{
		ID: programID(record.ID), Name: record.ID, RatePlanID: record.ID, LongName: facts.name, Utility: facts.utility,
		State: place.State, Location: location, Created: facts.created, Update: record.At, New: facts.unchanged,
	}
	return p, true, nil
}

// RemovedPrograms returns the programs of the organization's removed rate plans. Only their
// identifiers and the time of the removal are known.
func (r *Reader) RemovedPrograms() ([]Program, error) {
	removed := map[string]Program{} // a plan may be removed as the organization's own and as a shared one
	for _, of := range []string{storage.Shared, r.org} {
		err := r.view.Scan(storage.KindRatePlan, of, "", func(record storage.Record) bool {
			if !record.Deleted {
				return true
			}
			if _, err := storage.FindShared(r.view, storage.KindRatePlan.Ref(r.org, record.ID)); errors.Is(err, storage.ErrNotFound) {
				removed[record.ID] = Program{ID: programID(record.ID), Name: record.ID, RatePlanID: record.ID, Created: record.At, Update: record.At}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(removed), func(a, b Program) int { return strings.Compare(a.ID, b.ID) }), nil
}

// facts returns the cached facts of a rate plan. Callers that read every plan use the facts,
// because the cache of parsed tariffs is smaller.
func (p *Pricer) facts(record storage.Record) (programFacts, error) {
	return p.programs.get(record.Revision, func() (programFacts, error) { return p.programFacts(record) })
}

func (p *Pricer) programFacts(record storage.Record) (programFacts, error) {
	plan, err := storage.Decode[storage.RatePlan](record)
	if err != nil {
		return programFacts{}, homeError(err)
	}
	t, err := p.tariff(record)
	if err != nil {
		return programFacts{}, &HomeError{"the plan cannot be read", err}
	}
	return programFacts{
		name: plan.Name, utility: plan.Utility, created: plan.CreatedAt.Time, unchanged: plan.CreatedAt.Equal(plan.UpdatedAt.Time),
		composed: t.composedOf != nil, eiaID: t.eiaID,
	}, nil
}

// programID returns the identifier of a rate plan's program. It is the plan's own
// identifier, or a hash if that leaves no space for the suffix of an event.
func programID(planID string) string {
	if len(planID)+len("_20060102") <= storage.MaxIDLength {
		return planID
	}
	return "plan_" + storage.Hash(planID, 12)
}

// atRevision is the key of facts about an organization at a revision.
type atRevision struct {
	org      string
	revision uint64
}

// maxPlacedHomes bounds the homes that are read to find the places of plans.
const maxPlacedHomes = 4096

// placeOfHomes returns the place of the first home on a plan.
func (r *Reader) placeOfHomes(planID string) (catalog.Place, error) {
	places, err := r.pricer.planPlaces.get(atRevision{r.org, r.view.Revision()}, func() (map[string]catalog.Place, error) {
		byPlan, read := map[string]catalog.Place{}, 0
		err := r.view.Scan(storage.KindHome, r.org, "", func(record storage.Record) bool {
			read++
			if home, err := r.Home(record); err == nil && byPlan[home.RatePlanID].Timezone == "" {
				byPlan[home.RatePlanID] = catalog.Place{Timezone: home.Timezone}
			}
			return read < maxPlacedHomes
		})
		return byPlan, err
	})
	return places[planID], err
}

// HomeProgram returns the program of a home's rate plan. Errors: storage.ErrNotFound,
// *HomeError, and errors of the store.
func (r *Reader) HomeProgram(homeID string) (string, error) {
	home, err := r.find(homeID)
	switch {
	case err != nil:
		return "", err
	case home.RatePlanID == "":
		return "", storage.ErrNotFound
	}
	return programID(home.RatePlanID), nil
}

// HomeSignal returns the program of a home's rate plan, with the home's own signal as its
// events. Errors: storage.ErrNotFound, *HomeError, and errors of the store.
func (r *Reader) HomeSignal(homeID string) (*Program, error) {
	found, err := r.find(homeID)
	if err != nil {
		return nil, err
	}
	home := *found
	location, known := storage.Location(home.Timezone)
	if home.RatePlanID == "" || !known {
		return nil, storage.ErrNotFound
	}
	return &Program{ID: programID(home.RatePlanID), Name: home.ID, RatePlanID: home.RatePlanID, Location: location, home: &home}, nil
}

// HomePrefix begins the identifiers of the events of a home's own signal. The home's
// identifier follows.
const HomePrefix = "signal_"

// eventPrefix begins the identifiers of the program's events.
func (p *Program) eventPrefix() string {
	if p.home == nil {
		return p.ID
	}
	return programID(HomePrefix + p.home.ID)
}

// day returns the program's local day that contains a time, or the day that is later days
// after it.
func (p *Program) day(at time.Time, later int) pricing.Window {
	year, month, day := at.In(p.Location).Date()
	start := func(n int) time.Time {
		return pricing.DateOf(time.Date(year, month, day+n, 0, 0, 0, 0, time.UTC)).StartIn(p.Location).UTC()
	}
	return pricing.Window{Start: start(later), End: start(later + 1)}
}
