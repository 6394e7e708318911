package api

import (
	"slices"

	"github.com/gridhook/gridhook/storage"
)

// groupOperator is the heading of the operator's operations.
const groupOperator = "Operator"

// operatorRoutes is the table of the operations that the operator alone asks for.
func operatorRoutes() []Route {
	rows := []Route{
		do(Route{
			Path: "/v1/admin/organizations/create", Name: "createOrganization",
			Summary: "Create an organization",
			Body:    BodyRequired, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).createOrganization),
		do(Route{
			Path: "/v1/admin/organizations/list", Name: "listOrganizations",
			Summary: "List the organizations",
			Body:    BodyOptional,
		}, (*server).listOrganizations),
		do(Route{
			Path: "/v1/admin/organizations/{id}/get", Name: "getOrganization",
			Summary: "Get an organization",
		}, (*server).getOrganization),
		do(Route{
			Path: "/v1/admin/keys/create", Name: "createKey",
			Summary:     "Create an API key for an organization",
			Description: "The answer shows the key's text, this once.",
			Body:        BodyRequired, Errors: []string{CodeUnavailable},
		}, (*server).createKey),
		do(Route{
			Path: "/v1/admin/keys/list", Name: "listKeys",
			Summary: "List an organization's keys, without their secrets",
			Body:    BodyRequired,
		}, (*server).listKeys),
		do(Route{
			Path: "/v1/admin/keys/{id}/revoke", Name: "revokeKey",
			Summary: "Revoke a key at once",
			Errors:  []string{CodeConflict, CodeUnavailable},
		}, (*server).revokeKey),
		do(Route{
			Path: "/v1/admin/keys/{id}/rotate", Name: "rotateKey",
			Summary:     "Make a new key in the place of one",
			Description: "Both are valid for the overlap. The answer shows the new key's text, this once.",
			Body:        BodyOptional, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).rotateKey),
		do(Route{
			Path: "/v1/admin/homes/create", Name: "createHome",
			Summary:     "Create a home",
			Description: "A time zone and a city that are not given are those of the zipcode.",
			Body:        BodyRequired, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).createHome),
		do(Route{
			Path: "/v1/admin/homes/list", Name: "listHomes",
			Summary:     "List an organization's homes",
			Description: "Those on one rate plan alone where one is named.",
			Body:        BodyRequired,
		}, (*server).listHomes),
		do(Route{
			Path: "/v1/admin/homes/{id}/get", Name: "getHome",
			Summary: "Get a home",
			Body:    BodyRequired,
		}, (*server).getHome),
		do(Route{
			Path: "/v1/admin/homes/{id}/delete", Name: "deleteHome",
			Summary: "Delete a home with its solar, its usage and its onboarding",
			Body:    BodyRequired, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).deleteHome),
	}
	rows = slices.Concat(rows, planRoutes(), signalRoutes(), factRoutes())
	for i := range rows {
		rows[i].Operator, rows[i].Group = true, groupOperator
	}
	return rows
}

// planRoutes are the rows of the rate plans, of the import and of feedback.
func planRoutes() []Route {
	return []Route{
		do(Route{
			Path: "/v1/admin/plans/import", Name: "importPlan",
			Summary:     "Create or replace a rate plan",
			Description: "The tariff is in the JSON of the US Utility Rate Database, bare or inside items, or one of the catalogue's. Without an organization all share the plan.",
			Body:        BodyRequired, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).importPlan),
		do(Route{
			Path: "/v1/admin/plans/list", Name: "listPlans",
			Summary: "List an organization's rate plans, or those that all share",
			Body:    BodyOptional,
		}, (*server).listPlans),
		do(Route{
			Path: "/v1/admin/plans/{id}/get", Name: "getPlan",
			Summary: "Get a rate plan with its tariff",
			Body:    BodyOptional,
		}, (*server).getPlan),
		do(Route{
			Path: "/v1/admin/plans/{id}/delete", Name: "deletePlan",
			Summary:     "Delete a rate plan and its events",
			Description: "The homes on it cannot be priced until they have another.",
			Body:        BodyOptional, Errors: []string{CodeConflict, CodeUnavailable},
		}, (*server).deletePlan),
		do(Route{
			Path: "/v1/admin/import", Name: "import",
			Summary: "Create or replace many things at once",
			Description: "One resource a line. Lines that are wrong are reported and left out, the others are kept; " +
				"importing the same again changes nothing.",
			Body: BodyLines, Errors: []string{CodeUnavailable},
		}, (*server).importLines),
		do(Route{
			Path: "/v1/admin/feedback/list", Name: "listFeedback",
			Summary: "List the feedback that was submitted",
			Body:    BodyOptional,
		}, (*server).listFeedback),
	}
}

// factRoutes are the rows of what the operator knows better of places and
// utilities than what is published. It comes in by import.
func factRoutes() []Route {
	return []Route{
		do(Route{
			Path: "/v1/admin/utilities/list", Name: "listUtilities",
			Summary: "List the utilities that were imported",
			Body:    BodyOptional,
		}, listShared[storage.Utility](storage.KindUtility)),
		do(Route{
			Path: "/v1/admin/utilities/{id}/delete", Name: "deleteUtility",
			Summary:     "Delete a utility that was imported, by its EIA number",
			Description: "What is published of it holds again.",
			Errors:      []string{CodeConflict, CodeUnavailable},
		}, deleteShared(storage.KindUtility)),
		do(Route{
			Path: "/v1/admin/demand_response/list", Name: "listDemandResponse",
			Summary: "List the demand-response programs that were imported",
			Body:    BodyOptional,
		}, listShared[storage.DemandResponse](storage.KindDemandResponse)),
		do(Route{
			Path: "/v1/admin/demand_response/{id}/delete", Name: "deleteDemandResponse",
			Summary:     "Delete the programs that were imported of a utility, by its EIA number",
			Description: "Those that are known otherwise hold again.",
			Errors:      []string{CodeConflict, CodeUnavailable},
		}, deleteShared(storage.KindDemandResponse)),
		do(Route{
			Path: "/v1/admin/areas/list", Name: "listAreas",
			Summary: "List the areas that were imported",
			Body:    BodyOptional,
		}, listShared[storage.Area](storage.KindArea)),
		do(Route{
			Path: "/v1/admin/areas/{id}/delete", Name: "deleteArea",
			Summary:     "Delete an area that was imported",
			Description: "What is published of it holds again.",
			Errors:      []string{CodeConflict, CodeUnavailable},
		}, deleteShared(storage.KindArea)),
	}
}
