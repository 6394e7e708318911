package sources

import (
	"context"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// notify stores the notices of a source's alerts that have not ended, for each
// organization with a home on the plan. NOTICES stores a repeated notice once. So the next
// run makes up for a run that ended before its notices.
func (r *Runner) notify(ctx context.Context, source *storage.Source) error {
	var notices []events.Notice
	err := r.Store.View(func(v storage.View) error {
		alerts, err := r.alerts(v, source)
		if err != nil || len(alerts) == 0 {
			return err
		}
		return storage.EachOrganization(v, func(org string) error {
			if source.OrganizationID != storage.Shared && source.OrganizationID != org {
				return nil
			}
			if has, err := hasHome(v, org, storage.KindRatePlan.Ref(source.OrganizationID, source.PlanID)); !has || err != nil {
				return err
			}
			for _, e := range alerts {
				n, err := events.FlexAlertNotice(events.FlexAlert{
					OrganizationID: org, RatePlanID: source.PlanID, EventID: e.ID, Name: e.Name, From: e.From, To: e.To,
				}, r.Now())
				if err != nil {
					return err
				}
				notices = append(notices, n)
			}
			return nil
		})
	})
	for _, n := range notices {
		if err == nil {
			_, err = r.Notices.PutNotice(ctx, n)
		}
	}
	return err
}

// alerts returns the stored alerts of a source that have not ended.
func (r *Runner) alerts(v storage.View, source *storage.Source) (alerts []storage.PlanEvent, err error) {
	if source.PlanID == "" {
		return nil, nil
	}
	all, err := storage.ReadPlanEvents(v, storage.KindRatePlan.Ref(source.OrganizationID, source.PlanID))
	for _, e := range all.Events {
		if isOf(source, &e) && e.To.After(r.Now()) {
			alerts = append(alerts, e)
		}
	}
	return alerts, err
}

// hasHome reports whether an active organization has a home on a rate plan, or on a plan
// with that part.
func hasHome(v storage.View, org string, plan storage.Ref) (bool, error) {
	if active, err := storage.IsActive(v, org); !active || err != nil {
		return false, err
	}
	seen := map[string]bool{}
	for record, err := range storage.Live(v, storage.KindHome, org, "") {
		if err != nil {
			return false, err
		}
		home, err := storage.Decode[storage.Home](record)
		if err != nil || seen[home.RatePlanID] {
			continue // a home that does not decode has no prices
		}
		seen[home.RatePlanID] = true
		if uses, err := storage.UsesPlan(v, storage.KindRatePlan.Ref(org, home.RatePlanID), plan); uses || err != nil {
			return uses, err
		}
	}
	return false, nil
}
