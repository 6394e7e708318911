package importer

import (
	"context"
	"slices"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// Some lines are only a part of a stored entity: an event of a plan, a day of a market's
// prices. The importer stores the parts of one entity together.

// storePlans stores the plans with tariffs first, so that the composed plans of an import
// find their parts. It stores composed plans one at a time, so that the check of each
// includes the composed plans before it: a part cannot have parts.
func (im *importer) storePlans(ctx context.Context, lines []*pending) error {
	composed := func(l *pending) bool { return len(l.line.(*ratePlanLine).Parts) > 0 }
	plain := slices.DeleteFunc(slices.Clone(lines), composed)
	if err := im.store(ctx, plain); err != nil {
		return err
	}
	for _, l := range lines {
		if composed(l) && !im.cut {
			if err := im.store(ctx, []*pending{l}); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeEvents stores the events of plans.
func (im *importer) storeEvents(ctx context.Context, lines []*pending) error {
	return im.storeParts(lines, func(ref storage.Ref, lines []*pending) ([]storage.Change, error) {
		events := make([]storage.PlanEvent, len(lines))
		for i, l := range lines {
			events[i] = l.line.(*planEventLine).PlanEvent
		}
		return im.SetEvents(ctx, storage.KindRatePlan.Ref(ref.Org, ref.ID), events)
	})
}

// storePrices stores market prices. It refuses all lines of a series if their settings of
// the series differ.
func (im *importer) storePrices(ctx context.Context, lines []*pending) error {
	return im.storeParts(lines, func(_ storage.Ref, lines []*pending) ([]storage.Change, error) {
		series := lines[0].line.(*marketSeriesLine).series()
		parts := make([]storage.PricesPart, len(lines))
		for i, l := range lines {
			line := l.line.(*marketSeriesLine)
			parts[i] = line.part()
			if line.StepMinutes != series.StepMinutes || line.Timezone != series.Timezone {
				return nil, rest.Invalid("stepMinutes", "must be the same in all lines of a series, and the timezone too")
			}
		}
		return im.Store.AddPrices(ctx, series, parts)
	})
}

// storeParts checks lines and stores the correct lines, one entity at a time.
func (im *importer) storeParts(lines []*pending, store func(storage.Ref, []*pending) ([]storage.Change, error)) error {
	good, _, _, err := im.prepareAll(lines, true)
	if err != nil {
		return err
	}
	var order []storage.Ref
	parts := map[storage.Ref][]*pending{}
	for _, l := range good {
		ref := l.entity.Ref()
		if parts[ref] == nil {
			order = append(order, ref)
		}
		parts[ref] = append(parts[ref], l)
	}
	for _, ref := range order {
		changes, err := store(ref, parts[ref])
		for i, l := range parts[ref] {
			result := storage.UpsertResult{Err: err}
			if err == nil {
				result.Change = changes[i]
			}
			if err := im.count(l, result); err != nil {
				return err
			}
		}
		if im.cut {
			return nil
		}
	}
	return nil
}
