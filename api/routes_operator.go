package api

import (
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// organizationRoutes are the operations on organizations and their keys.
var organizationRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/organizations/create", Name: "createOrganization", Role: storage.RoleOperate, Checks: true,
		Summary: "Create an organization",
	}, (*server).createOrganization),
	do(rest.Route{
		Path: "/v1/admin/organizations/list", Name: "listOrganizations", Role: storage.RoleRead,
		Summary: "List the organizations",
	}, listOf[wire.PageInput](storage.KindOrganization, asStored[storage.Organization])),
	do(rest.Route{Path: "/v1/admin/organizations/{id}/get", Name: "getOrganization", Role: storage.RoleRead, Summary: "Get an organization"}, getOf[struct{}](storage.KindOrganization, asStored[storage.Organization])),
	do(rest.Route{
		Path: "/v1/admin/organizations/{id}/update", Name: "updateOrganization", Role: storage.RoleOperate, Checks: true, Partial: true,
		Summary:     "Update, suspend or resume an organization",
		Description: "Absent fields keep their values.",
	}, (*server).updateOrganization),
	do(rest.Route{
		Path: "/v1/admin/keys/create", Name: "createKey", Role: storage.RoleOperate, Checks: true,
		Summary:     "Create an API key for an organization",
		Description: "Only this response contains the text of the key.",
	}, (*server).createKey),
	do(rest.Route{Path: "/v1/admin/keys/list", Name: "listKeys", Role: storage.RoleRead, Summary: "List an organization's keys, without their secrets"}, (*server).listKeys),
	do(rest.Route{Path: "/v1/admin/keys/{id}/revoke", Name: "revokeKey", Role: storage.RoleOperate, Summary: "Revoke a key immediately"}, (*server).revokeKey),
	do(rest.Route{
		Path: "/v1/admin/keys/{id}/rotate", Name: "rotateKey", Role: storage.RoleOperate,
		Summary:     "Rotate a key",
		Description: "Both keys are valid during the overlap. Only this response contains the text of the new key.",
	}, (*server).rotateKey),
}

// ownedHomeRoutes are the operations on the homes of any organization.
var ownedHomeRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/homes/create", Name: "createHome", Role: storage.RoleOperate, Checks: true,
		Summary:     "Create a home",
		Description: "A missing time zone or city comes from the zipcode.",
	}, (*server).createHome),
	do(rest.Route{
		Path: "/v1/admin/homes/list", Name: "listHomes", Role: storage.RoleRead,
		Summary:     "List an organization's homes",
		Description: "A page may be shorter than limit, even empty, before the last page. next is null on the last page.",
	}, (*server).listHomes),
	do(rest.Route{Path: "/v1/admin/homes/{id}/get", Name: "getHome", Role: storage.RoleRead, Summary: "Get a home with its solar and the months of its measured load"}, getHome[wire.OrganizationIDInput]()),
	do(rest.Route{
		Path: "/v1/admin/homes/{id}/update", Name: "updateHome", Role: storage.RoleOperate, Checks: true,
		Summary:     "Update a home",
		Description: "Changes the given fields. The next price signal of the home uses them.",
	}, (*server).updateHome),
	do(rest.Route{
		Path: "/v1/admin/homes/{id}/import_green_button", Name: "importGreenButton", Role: storage.RoleOperate, Body: rest.BodyXML,
		Summary: "Import a home's metered energy from a Green Button file",
		Description: "The file is an Atom feed of ESPI, as utilities offer it for download, of at most 64 MiB. Its months replace the " +
			"stored months of the home's measured load, unless more of their hours are missing. The readings are not stored.",
	}, (*server).importGreenButton),
	do(rest.Route{
		Path: "/v1/admin/homes/{id}/delete", Name: "deleteHome", Role: storage.RoleOperate,
		Summary: "Delete a home with its devices and their preferences, solar, usage, measured load, market and onboarding",
	}, deleteOf[wire.OrganizationIDInput](storage.KindHome)),
}

// planRoutes are the operations on rate plans, the import and feedback.
var planRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/plans/import", Name: "importPlan", Role: storage.RoleOperate, Checks: true,
		Summary:     "Create or replace a rate plan",
		Description: "The tariff is in the JSON of the US Utility Rate Database, bare or inside items, or comes from the catalog. A composed plan has parts instead: the prices of its parts add up. All organizations share a plan without an organization.",
	}, (*server).importPlan),
	do(rest.Route{Path: "/v1/admin/plans/list", Name: "listPlans", Role: storage.RoleRead, Summary: "List an organization's rate plans, or the shared rate plans"}, listOf[wire.ListPlansInput](storage.KindRatePlan, plain(showPlan))),
	do(rest.Route{Path: "/v1/admin/plans/{id}/get", Name: "getPlan", Role: storage.RoleRead, Summary: "Get a rate plan with its tariff or its parts"}, getOf[wire.PlanOwner](storage.KindRatePlan, plain(showPlanWithTariff))),
	do(rest.Route{
		Path: "/v1/admin/plans/{id}/delete", Name: "deletePlan", Role: storage.RoleOperate,
		Summary:     "Delete a rate plan and its events",
		Description: "Homes on the plan cannot be priced until they have another plan. A part of another plan cannot be deleted.",
	}, deleteOf[wire.PlanOwner](storage.KindRatePlan)),
	do(rest.Route{
		Path: "/v1/admin/import", Name: "import", Role: storage.RoleOperate, Body: rest.BodyLines, Errors: []string{rest.CodeUnavailable},
		Summary: "Create or replace many resources",
		Description: "One resource a line. Invalid lines are reported and skipped, the other lines are stored. " +
			"Importing the same lines again changes nothing.",
	}, (*server).importLines),
	do(rest.Route{Path: "/v1/admin/feedback/list", Name: "listFeedback", Role: storage.RoleRead, Summary: "List the submitted feedback"}, (*server).listFeedback),
	do(rest.Route{
		Path: "/v1/admin/feedback/{id}/delete", Name: "deleteFeedback", Role: storage.RoleOperate,
		Summary: "Erase a submission of feedback",
	}, (*server).deleteFeedback),
}

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
	}, listOf[wire.ListPlansInput](storage.KindMarketSeries, plain(showSeries))),
	do(rest.Route{
		Path: "/v1/admin/market_series/{id}/delete", Name: "deleteMarketSeries", Role: storage.RoleOperate,
		Summary:     "Delete a series of market prices",
		Description: "Homes whose plans use the series cannot be priced until there is another series.",
	}, deleteOf[wire.PlanOwner](storage.KindMarketSeries)),
}

// factRoutes are the operations on facts about places and utilities that override the
// published data. The facts are created by import.
var factRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/utilities/list", Name: "listUtilities", Role: storage.RoleRead,
		Summary: "List the imported utilities",
	}, listOf[wire.PageInput](storage.KindUtility, asStored[storage.Utility])),
	do(rest.Route{
		Path: "/v1/admin/utilities/{id}/delete", Name: "deleteUtility", Role: storage.RoleOperate,
		Summary:     "Delete an imported utility by its EIA number",
		Description: "The published data applies again.",
	}, deleteOf[struct{}](storage.KindUtility)),
	do(rest.Route{
		Path: "/v1/admin/demand_response/list", Name: "listDemandResponse", Role: storage.RoleRead,
		Summary: "List the imported demand-response programs",
	}, listOf[wire.PageInput](storage.KindDemandResponse, asStored[storage.DemandResponse])),
	do(rest.Route{
		Path: "/v1/admin/demand_response/{id}/delete", Name: "deleteDemandResponse", Role: storage.RoleOperate,
		Summary:     "Delete the imported programs of a utility by its EIA number",
		Description: "The published programs apply again.",
	}, deleteOf[struct{}](storage.KindDemandResponse)),
	do(rest.Route{Path: "/v1/admin/areas/list", Name: "listAreas", Role: storage.RoleRead, Summary: "List the imported areas"}, listOf[wire.PageInput](storage.KindArea, asStored[storage.Area])),
	do(rest.Route{
		Path: "/v1/admin/areas/{id}/delete", Name: "deleteArea", Role: storage.RoleOperate,
		Summary:     "Delete an imported area",
		Description: "The published data applies again.",
	}, deleteOf[struct{}](storage.KindArea)),
}
