package api

import (
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// signalRoutes are the operations on the inputs of signals other than rate plans.
var signalRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/plans/catalog/list", Name: "listCatalog", Role: storage.RoleRead,
		Summary:     "List the rate plans of the catalog",
		Description: "Real plans of US utilities. Import a plan before homes refer to it.",
	}, (*server).listCatalog),
	do(rest.Route{
		Path: "/v1/admin/plan_events/create", Name: "createPlanEvent", Role: storage.RoleOperate, Checks: true, Errors: []string{rest.CodeConflict, rest.CodeNotFound, rest.CodeUnavailable},
		Summary:     "Create or replace an event of a rate plan",
		Description: "A critical peak or a rebate changes the signal of every home on the plan.",
	}, (*server).createPlanEvent),
	do(rest.Route{Path: "/v1/admin/plan_events/list", Name: "listPlanEvents", Role: storage.RoleRead, Summary: "List the events of a rate plan by their start"}, (*server).listPlanEvents),
	do(rest.Route{Path: "/v1/admin/plan_events/{id}/delete", Name: "deletePlanEvent", Role: storage.RoleOperate, Summary: "Delete an event of a rate plan"}, (*server).deletePlanEvent),
	do(rest.Route{
		Path: "/v1/admin/market_series/list", Name: "listMarketSeries", Role: storage.RoleRead,
		Summary: "List an organization's series of market prices, or the shared series",
	}, (*server).listMarketSeries),
	do(rest.Route{
		Path: "/v1/admin/market_series/{id}/delete", Name: "deleteMarketSeries", Role: storage.RoleOperate,
		Summary:     "Delete a series of market prices",
		Description: "Homes whose plans use the series cannot be priced until there is another series.",
	}, (*server).deleteMarketSeries),
}
