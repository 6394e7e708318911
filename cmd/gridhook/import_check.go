package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

// references checks that the plans and zipcodes of homes exist. A server stores a home
// without them but cannot price it.
type references struct {
	ctx context.Context //nolint:containedctx // it is of one import, and the readers pass none
	c   *client.Client
	// strict skips homes with missing references. Otherwise they are counted.
	strict bool
	// plans holds each organization's plans, with the shared plans under "". unlisted
	// holds the organizations whose plans the server does not return, except those of the
	// files themselves: a new organization has no plans on the server.
	plans    map[string]map[string]bool
	unlisted map[string]bool
	named    map[string]bool // organizations of the files
	// missing counts the references of stored homes. waiting has those of homes that are
	// not stored yet, by their lines.
	missing map[reference]int
	waiting map[int][]reference
}

// reference is a plan of an organization or a zipcode that homes refer to and that does
// not exist.
type reference struct{ organization, plan, zipcode string }

// maxMissing bounds the number of different plans and zipcodes to count.
const maxMissing = 2000

// check checks a line before it is sent. If the line must be skipped, it returns the
// reason. stored counts what check finds.
func (r *references) check(number int, line []byte) (e fileError, wrong bool) {
	var l struct {
		Resource       storage.Kind `json:"resource"`
		OrganizationID string       `json:"organizationId"`
		ID             string       `json:"id"`
		CatalogID      string       `json:"catalogId"`
		RatePlanID     string       `json:"ratePlanId"`
		Zipcode        string       `json:"zipcode"`
		Country        string       `json:"country"`
	}
	if json.Unmarshal(line, &l) != nil {
		return e, false // the server reports the mistake
	}
	switch {
	case l.Resource == storage.KindOrganization:
		r.named[cmp.Or(l.ID, l.OrganizationID)] = true
		return e, false
	case l.Resource == storage.KindRatePlan:
		r.of(l.OrganizationID)[cmp.Or(l.ID, l.CatalogID)] = true // later lines may refer to it
		return e, false
	case l.Resource != storage.KindHome:
		return e, false
	}
	e.Line, e.Resource, e.ID = number, string(l.Resource), l.ID
	var absent []reference
	if !r.exists(l.OrganizationID, l.RatePlanID) {
		absent = append(absent, reference{organization: l.OrganizationID, plan: l.RatePlanID})
		e.Fields = append(e.Fields, storage.FieldError{Field: "ratePlanId", Message: fmt.Sprintf("plan %q does not exist for this home", l.RatePlanID)})
	}
	if unknownZipcode(l.Zipcode, l.Country) {
		absent = append(absent, reference{zipcode: l.Zipcode})
		e.Fields = append(e.Fields, storage.FieldError{Field: "zipcode", Message: fmt.Sprintf("%q is unknown", l.Zipcode)})
	}
	if len(e.Fields) > 0 && !r.strict {
		r.waiting[number] = absent
	}
	return e, r.strict && len(e.Fields) > 0
}

// unknownZipcode reports whether a home's zipcode must be wrong. Homes may have none.
func unknownZipcode(zipcode, country string) bool {
	_, known := eligibility.Locate(zipcode)
	return !known && zipcode != "" && eligibility.Covers(country)
}

// stored counts the missing references of the lines that the server has stored: all of a
// chunk except the refused ones.
func (r *references) stored(lines []int, refused []fileError) {
	for _, e := range refused {
		delete(r.waiting, e.Line)
	}
	for _, number := range lines {
		for _, absent := range r.waiting[number] {
			if r.missing[absent] > 0 || len(r.missing) < maxMissing {
				r.missing[absent]++
			}
		}
		delete(r.waiting, number)
	}
}

// exists reports whether homes of an organization can have a plan: no plan, one of the
// organization's plans, or a shared plan.
func (r *references) exists(organization, plan string) bool {
	if plan == "" {
		return true
	}
	shared, own := r.of(""), r.of(organization)
	return shared[plan] || own[plan] || r.unlisted[""] || r.unlisted[organization]
}

// of returns an organization's plans. It reads them only the first time.
func (r *references) of(organization string) map[string]bool {
	if known, ok := r.plans[organization]; ok {
		return known
	}
	plans := map[string]bool{}
	all, err := client.All(r.ctx, func(ctx context.Context, p client.Page) ([]client.Plan, string, error) {
		return r.c.Plans(ctx, organization, p)
	})
	for i := range all {
		plans[all[i].ID] = true
	}
	r.unlisted[organization] = err != nil && !r.named[organization]
	r.plans[organization] = plans
	return plans
}

// warn prints the missing references.
func (r *references) warn(w io.Writer) {
	if r.strict {
		return // each line is already reported
	}
	var names []string
	total := 0
	for _, m := range slices.SortedFunc(maps.Keys(r.missing), func(a, b reference) int { return r.missing[b] - r.missing[a] }) {
		if m.zipcode != "" {
			names, total = append(names, m.zipcode), total+r.missing[m]
			continue
		}
		say(w, "warning: homes of %s name a plan that does not exist for them: %s%s (%d)\n", or(m.organization), m.plan, r.owner(m.plan), r.missing[m])
	}
	if len(names) > 0 {
		const shown = 5
		slices.Sort(names)
		more := ""
		if len(names) > shown {
			more, names = fmt.Sprintf(" and %d others", len(names)-shown), names[:shown]
		}
		say(w, "warning: homes have an unknown zipcode: %s%s (%d)\n", strings.Join(names, ", "), more, total)
	}
}

// owner names the organization that owns a plan, if known.
func (r *references) owner(plan string) string {
	organizations, _, err := r.c.Organizations(r.ctx, client.Page{Limit: 100})
	if err != nil {
		return ""
	}
	for i := range organizations {
		if id := organizations[i].ID; r.of(id)[plan] {
			return ", private to " + id
		}
	}
	return ""
}
