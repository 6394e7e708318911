package api

// examples has an example request body for each operation. The tests send each body.
var examples = map[string]string{
	"triggerPriceSignalWebhooks": `{"startTime": "2026-07-01T12:00:00Z", "endTime": "2026-07-02T12:00:00Z"}`,
	"listTriggers":               `{"limit": 10}`,
	"listDeliveries":             `{"triggerId": "trg_01JZ2E6K8M0000000000000000", "outcome": "FAILED", "since": "2026-07-01T12:00:00Z", "limit": 100}`,
	"createEndpoint":             `{"url": "https://partner.example/hooks/gridhook", "description": "production", "eventTypes": ["price_signal.updated"], "headers": {"X-Site": "eu-1"}, "rateLimit": 50, "timeoutSeconds": 10, "deliveryMode": "onChange", "compression": "gzip", "authentication": {"type": "oauth2", "tokenUrl": "https://auth.partner.example/token", "clientId": "gridhook", "clientSecret": "s3cr3t", "scopes": ["webhooks"]}, "retryPolicy": {"initialSeconds": 5, "multiplier": 2, "maxSeconds": 900, "giveUpSeconds": 86400, "disableAfterSeconds": 432000}}`,
	"listEndpoints":              `{"limit": 100}`,
	"updateEndpoint":             `{"enabled": false}`,
	"rotateEndpointSecret":       `{}`,
	"listenEndpoint":             `{"seconds": 600}`,
	"respondEndpoint":            `{"id": "Rk4LzQyMjZ1RkZ3bXhQ", "status": 204}`,
	"replayEndpoint":             `{"since": "2026-07-01T00:00:00Z", "outcomes": ["FAILED"]}`,
	"listReplays":                `{"limit": 100}`,
	"createSchedule":             `{"description": "day ahead", "cron": "30 13 * * *", "timezone": "America/Chicago", "window": {"offsetMinutes": 630, "lengthMinutes": 1440}}`,
	"listSchedules":              `{"limit": 100}`,
	"updateSchedule":             `{"everyMinutes": 15}`,
	"createChannel":              `{"kind": "SLACK", "address": "https://hooks.slack.example/services/T0/B0/secret", "events": ["endpoint.failing", "endpoint.disabled", "endpoint.recovered"], "description": "on call"}`,
	"listChannels":               `{"limit": 100}`,
	"updateChannel":              `{"events": []}`,
	"createConsoleLink":          `{"scopes": ["read"], "expiresMinutes": 15, "description": "Ada in the back office"}`,
	"getPriceSignal":             `{"startTime": "2026-07-01T12:00:00Z", "endTime": "2026-07-01T18:00:00Z"}`,
	"getHVACEstimatedSavings":    `{"type": "monthly", "targetHeatSetpoint": 68, "targetCoolSetpoint": 75, "minTemp": 64, "maxTemp": 78, "mode": "AUTO", "start": {"month": 7}, "days": 31, "months": null}`,
	"getBill":                    `{"annualKwh": 9000, "solarSystemSizeKw": 6, "tierRule": "RUNNING_TOTAL", "carryOver": "DOLLARS", "metering": "NET_METERING", "trueUpMonth": 4}`,
	"createSolar":                `{"homeId": "home_1", "solarSystemSizeKw": 7.5, "isNonNetMetered": false, "tilt": 25, "azimuth": 200}`,
	"updateHVACLinkedFlag":       `{"linked": true}`,
	"checkEligibilityForZipcode": `{"zipcode": "60614"}`,
	"getOnboardingStatus":        `{"homeId": "home_1"}`,
	"startOnboarding":            `{"homeId": "home_1", "zipcode": "60614", "thermostatBrandCode": "brand-x"}`,
	"completeOnboardingStep":     `{"homeId": "home_1", "step": 2, "completed": false}`,
	"failOnboarding":             `{"homeId": "home_1"}`,
	"submitFeedback":             `{"feedback_type": "question", "summary": "How are clock changes shown?", "message": "Does a day have 92 intervals then?", "name": "Ada", "company": "Partner Inc.", "page": "price-signal", "endpoint": "/v1/homes/{id}/price_signal", "environment": "sandbox", "related_urls": ["https://partner.example/ticket/7"], "submitter": {"kind": "human", "agent": "", "client": "curl"}, "contact": {"email": "ada@partner.example", "preferred_contact": "email", "consent_to_contact": true}}`,

	"createOrganization": `{"id": "partner", "name": "Partner Inc.", "childOrganizationIds": ["partner-east"]}`,
	"updateOrganization": `{"name": "Partner Energy Inc.", "suspended": false}`,
	"listOrganizations":  `{"limit": 100}`,
	"createKey":          `{"organizationId": "acme", "description": "production", "scopes": ["read", "trigger"], "expiresAt": "2027-01-01T00:00:00Z"}`,
	"listKeys":           `{"organizationId": "acme"}`,
	"rotateKey":          `{"overlapSeconds": 86400}`,
	"createOperatorKey":  `{"name": "ada", "role": "operate", "expiresAt": "2027-01-01T00:00:00Z"}`,
	"listOperatorKeys":   `{"limit": 100}`,
	"listAudit":          `{"organizationId": "acme", "since": "2026-07-01T00:00:00Z", "limit": 100}`,
	"exportOrganization": `{"limit": 100}`,
	"deleteOrganization": `{"confirm": "partner"}`,
	"createHome":         `{"organizationId": "acme", "name": "At the lake", "ratePlanId": "plan_1", "timezone": "America/Chicago", "city": "Chicago", "zipcode": "60614", "carbonSignalIntensity": "MEDIUM"}`,
	"listDevices":        `{"homeId": "home_1", "limit": 100}`,
	"listOwnHomes":       `{"search": "lake", "limit": 100}`,
	"listHomes":          `{"organizationId": "acme", "limit": 100}`,
	"getHome":            `{"organizationId": "acme"}`,
	"updateHome":         `{"organizationId": "acme", "ratePlanId": "plan_1", "carbonSignalIntensity": "LOW"}`,
	"deleteHome":         `{"organizationId": "acme"}`,
	"importPlan":         `{"id": "plan_2", "tariff": {"name": "Flat", "utility": "Acme Electric", "energyratestructure": [[{"rate": 0.12, "unit": "kWh"}]]}}`,
	"listCatalog":        `{"utility": "Commonwealth Edison", "limit": 10}`,
	"createPlanEvent":    `{"planId": "plan_1", "kind": "CRITICAL_PEAK", "name": "heat wave", "from": "2026-07-02T21:00:00Z", "to": "2026-07-03T01:00:00Z", "adder": 0.6}`,
	"listPlanEvents":     `{"planId": "plan_1"}`,
	"deletePlanEvent":    `{"planId": "plan_1"}`,
	"listMarketSeries":   `{"limit": 100}`,
	"deleteMarketSeries": `{}`,
	"createSource":       `{"id": "np15", "adapter": "csv", "url": "https://prices.example/np15.csv", "parameters": {"node": "NP15"}, "everySeconds": 3600, "timezone": "America/Los_Angeles", "planId": "np15"}`,
	"listSources":        `{"limit": 100}`,
	"getSource":          `{}`,
	"updateSource":       `{"enabled": false}`,
	"deleteSource":       `{}`,
	"runSource":          `{}`,
	"checkSource":        `{}`,
	"listPlans":          `{"limit": 100}`,
	"getPlan":            `{}`,
	"deletePlan":         `{}`,
	"listFeedback":       `{"limit": 100}`,
	"listUtilities":      `{"limit": 100}`,
	"listDemandResponse": `{"limit": 100}`,
	"listAreas":          `{"limit": 100}`,
	"import": `{"resource": "organization", "id": "north", "name": "North"}
{"resource": "utility", "eiaId": 15497, "name": "Island Electric", "programs": ["Island Peak Savers"]}
{"resource": "demandResponse", "eiaId": 4110, "programs": ["Peak Time Savings"]}
{"resource": "area", "area": "009", "supported": true, "reason": "a pilot", "utilities": [15497], "timezone": "America/Puerto_Rico", "state": "PR"}
{"resource": "ratePlan", "id": "e-elec", "catalogId": "pge-e-elec"}
{"resource": "planEvent", "planId": "e-elec", "kind": "CRITICAL_PEAK", "from": "2026-07-02T21:00:00Z", "to": "2026-07-02T23:00:00Z", "adder": 0.5}
{"resource": "marketSeries", "node": "COMED", "market": "REAL_TIME", "timezone": "America/Chicago", "stepMinutes": 60, "startTime": "2026-07-01T00:00:00Z", "prices": [0.0213, null, 0.0305]}
{"resource": "home", "organizationId": "north", "id": "home_9", "ratePlanId": "e-elec", "timezone": "America/Los_Angeles", "zipcode": "94103"}
{"resource": "solar", "organizationId": "north", "homeId": "home_9", "solarSystemSizeKw": 7.5}
{"resource": "usage", "organizationId": "north", "homeId": "home_9", "monthToDateKwh": 420, "asOf": "2026-07-01", "assumedMonthlyKwh": 900, "billingDay": 12}
{"resource": "measuredLoad", "organizationId": "north", "homeId": "home_9", "months": [{"month": "2026-06", "kwh": 396, "watts": [310, 290, 280, 280, 300, 420, 610, 540, 480, 450, 430, 440, 460, 470, 520, 640, 810, 990, 1080, 1010, 860, 690, 480, 360]}]}
{"resource": "homeMarket", "organizationId": "north", "homeId": "home_9", "node": "COMED", "market": "REAL_TIME"}
{"resource": "hvacDevice", "organizationId": "north", "deviceId": "dev_9", "homeId": "home_9", "systemDetails": {"name": "Upstairs", "tempUnits": "F", "defaultMode": "AUTO"}}
{"resource": "userPreferences", "organizationId": "north", "deviceId": "dev_9", "name": "Always"}
{"resource": "onboarding", "organizationId": "north", "homeId": "home_9"}
{"resource": "webhookEndpoint", "organizationId": "north", "id": "ep_9", "url": "https://north.example/hooks"}
{"resource": "source", "id": "hub", "adapter": "csv", "url": "https://prices.example/np15.csv", "parameters": {"node": "NP15"}, "planId": "np15"}
`,
}
