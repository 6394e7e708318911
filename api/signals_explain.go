package api

import (
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// explain converts the reasons of a signal for the response.
func explain(reasons []pricing.Reason) []wire.PriceReason {
	shown := make([]wire.PriceReason, len(reasons))
	for i, r := range reasons {
		shown[i] = wire.PriceReason{StartTime: storage.Time{Time: r.Start}, EndTime: storage.Time{Time: r.Start.Add(pricing.Interval)}, Reason: r}
	}
	return shown
}
