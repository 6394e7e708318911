package api

// signalRoutes are the rows of what signals are made of beside rate plans.
func signalRoutes() []Route {
	return []Route{
		do(Route{
			Path: "/v1/admin/plans/catalog/list", Name: "listCatalog",
			Summary:     "List the rate plans of the catalogue",
			Description: "They are real plans of US utilities. Import one to give it to homes.",
			Body:        BodyOptional,
		}, (*server).listCatalog),
		do(Route{
			Path: "/v1/admin/plan_events/create", Name: "createPlanEvent",
			Summary:     "Create or replace an event of a rate plan",
			Description: "A critical peak or a rebate changes the signal of every home on the plan.",
			Body:        BodyRequired, Errors: []string{CodeConflict, CodeNotFound, CodeUnavailable},
		}, (*server).createPlanEvent),
		do(Route{
			Path: "/v1/admin/plan_events/list", Name: "listPlanEvents",
			Summary: "List the events of a rate plan, by their start",
			Body:    BodyRequired,
		}, (*server).listPlanEvents),
		do(Route{
			Path: "/v1/admin/plan_events/{id}/delete", Name: "deletePlanEvent",
			Summary: "Delete an event of a rate plan",
			Body:    BodyRequired, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).deletePlanEvent),
		do(Route{
			Path: "/v1/admin/market_series/list", Name: "listMarketSeries",
			Summary: "List an organization's series of market prices, or those that all share",
			Body:    BodyOptional,
		}, (*server).listMarketSeries),
		do(Route{
			Path: "/v1/admin/market_series/{id}/delete", Name: "deleteMarketSeries",
			Summary:     "Delete a series of market prices",
			Description: "The homes whose plans follow it cannot be priced until there is another.",
			Body:        BodyOptional, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).deleteMarketSeries),
	}
}
