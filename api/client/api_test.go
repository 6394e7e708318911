package client_test

import (
	"encoding"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// page is the response of a list, and ofOrg the request for an object of an organization.
type (
	page[T any] struct {
		Data []T    `json:"data"`
		Next string `json:"next"`
	}
	ofOrg struct {
		OrganizationID string `json:"organizationId"`
	}
	listOf struct {
		ofOrg
		client.Page
	}
	deleted struct {
		ID      string `json:"id"`
		Deleted bool   `json:"deleted"`
	}
)

// The client sends only fields that the API knows, and has a field for each in a
// response. Its own types of requests have every field that a caller may set.
func TestClient_CoversAPI(t *testing.T) {
	type none = struct{}
	operations := map[string]struct{ in, out any }{
		"createOrganization":         {client.NewOrganization{}, storage.Organization{}},
		"updateOrganization":         {client.OrganizationFields{}, storage.Organization{}},
		"deleteOrganization":         {wire.DeleteOrganizationInput{}, client.Erased{}},
		"listOrganizations":          {client.Page{}, page[storage.Organization]{}},
		"getOrganization":            {none{}, storage.Organization{}},
		"createKey":                  {client.NewKey{}, client.Key{}},
		"listKeys":                   {listOf{}, page[client.Key]{}},
		"revokeKey":                  {none{}, client.Key{}},
		"rotateKey":                  {client.Rotation{}, client.Key{}},
		"createHome":                 {client.NewHome{}, client.Home{}},
		"listHomes":                  {listOf{}, page[client.Home]{}},
		"getHome":                    {ofOrg{}, client.HomeDetails{}},
		"listOwnHomes":               {wire.HomesInput{}, page[client.Home]{}},
		"getOwnHome":                 {none{}, client.HomeDetails{}},
		"updateHome":                 {client.NewHome{}, client.Home{}},
		"deleteHome":                 {ofOrg{}, deleted{}},
		"importPlan":                 {client.NewPlan{}, client.Plan{}},
		"listPlans":                  {listOf{}, page[client.Plan]{}},
		"getPlan":                    {ofOrg{}, client.Plan{}},
		"deletePlan":                 {ofOrg{}, deleted{}},
		"import":                     {none{}, client.Imported{}},
		"importGreenButton":          {none{}, client.GreenButtonImport{}},
		"triggerPriceSignalWebhooks": {client.TriggerRequest{}, client.Accepted{}},
		"getTrigger":                 {none{}, events.Progress{}},
		"listTriggers":               {none{}, page[events.Progress]{}},
		"listDeliveries":             {client.DeliveriesRequest{}, page[events.Delivery]{}},
		"getPriceSignal":             {client.Window{}, client.Signal{}},
		"createPlanEvent":            {client.NewPlanEvent{}, storage.PlanEvent{}},
		"listPlanEvents":             {client.PlanIDInput{}, page[storage.PlanEvent]{}},
		"deletePlanEvent":            {client.PlanIDInput{}, deleted{}},
		"listMarketSeries":           {listOf{}, page[client.MarketSeries]{}},
		"deleteMarketSeries":         {ofOrg{}, deleted{}},
		"createEndpoint":             {client.NewEndpoint{}, client.Endpoint{}},
		"listEndpoints":              {client.Page{}, page[client.Endpoint]{}},
		"getEndpoint":                {none{}, client.Endpoint{}},
		"updateEndpoint":             {client.EndpointFields{}, client.Endpoint{}},
		"deleteEndpoint":             {none{}, deleted{}},
		"rotateEndpointSecret":       {none{}, client.Endpoint{}},
		"testEndpoint":               {none{}, events.Delivery{}},
		"createSolar":                {client.Solar{}, storage.Home{}},
		"getBill":                    {client.BillRequest{}, bill.Bill{}},
		"getHVACEstimatedSavings":    {client.SavingsRequest{}, savings.Result{}},
		"listDevices":                {wire.DevicesInput{}, page[storage.HVACDevice]{}},
		"findHVAC":                   {none{}, storage.HVACDevice{}},
		"updateHVACLinkedFlag":       {none{}, storage.HVACDevice{}},
		"getUserPreference":          {none{}, storage.UserPreferences{}},
		"checkEligibilityForZipcode": {none{}, wire.Eligibility{}},
		"getOnboardingStatus":        {none{}, storage.Onboarding{}},
		"startOnboarding":            {client.OnboardingStart{}, storage.Onboarding{}},
		"completeOnboardingStep":     {client.OnboardingStep{}, storage.Onboarding{}},
		"failOnboarding":             {none{}, storage.Onboarding{}},
		"submitFeedback":             {storage.FeedbackForm{}, client.FeedbackReceipt{}},
		"listFeedback":               {client.Page{}, page[storage.Feedback]{}},
	}
	answers := map[string]reflect.Type{"getPriceSignal": reflect.TypeFor[wire.PriceSignal]()} // encoded by hand
	for _, route := range api.AudienceOperator.Routes() {
		ours, ok := operations[route.Name]
		if !ok {
			continue // the client lacks some operations
		}
		delete(operations, route.Name)
		out, known := answers[route.Name]
		if !known {
			out = route.Out
		}
		missing(t, route.Name+" sends", fields(reflect.TypeOf(ours.in)), fields(route.In))
		if in := reflect.TypeOf(ours.in); in.PkgPath() == reflect.TypeFor[client.Client]().PkgPath() {
			settable := slices.DeleteFunc(fields(route.In), func(name string) bool {
				return name == "createdAt" || name == "updatedAt" || strings.Contains(name, ".")
			})
			missing(t, route.Name+" cannot send", settable, fields(in))
		}
		missing(t, route.Name+" leaves out of the answer", fields(out), fields(reflect.TypeOf(ours.out)))
	}
	for name := range operations {
		t.Errorf("the API has no operation %s", name)
	}
}

// pathLiteral matches the path of an operation in the source.
var pathLiteral = regexp.MustCompile(`"(/v1/[^"]*)"`)

// The client says each path as the API does, so that a search finds both.
func TestClient_PathsOfAPI(t *testing.T) {
	var served []string
	for _, route := range api.AudienceOperator.Routes() {
		served = append(served, route.Path)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pathLiteral.FindAllStringSubmatch(string(source), -1) {
			if found++; !slices.Contains(served, path[1]) {
				t.Errorf("%s calls %s, which the API does not have", file, path[1])
			}
		}
	}
	if found == 0 {
		t.Error("no path found")
	}
}

func missing(t *testing.T, what string, names, from []string) {
	t.Helper()
	for _, name := range names {
		if !slices.Contains(from, name) {
			t.Errorf("%s %s", what, name)
		}
	}
}

// fields returns the JSON paths of a type.
func fields(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			names = append(names, fields(f.Type)...)
		default:
			if name == "" {
				name = f.Name
			}
			names = append(names, name)
			for _, inner := range fields(f.Type) {
				names = append(names, name+"."+inner)
			}
		}
	}
	return names
}

// A client waits longer than a server takes for its longest operation.
func TestClient_Timeout(t *testing.T) {
	const answering = 5 * time.Second
	for _, route := range api.AudienceOperator.Routes() {
		if least := max(route.Timeout, 25*time.Second) + answering; client.DefaultHTTP.Timeout < least {
			t.Errorf("the client waits %s for %s, want at least %s", client.DefaultHTTP.Timeout, route.Name, least)
		}
	}
}
