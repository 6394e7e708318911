package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	homeJSON = `{"id":"h1","organizationId":"acme","name":"Blue house","ratePlanId":"flat","timezone":"America/Chicago","zipcode":"60614",
		"country":"US","enabled":true,"carbonSignalIntensity":"LOW","createdAt":"2026-07-01T00:00:00.000Z","updatedAt":"2026-07-02T00:00:00.000Z"}`
	endpointJSON = `{"id":"ep_1","url":"https://example.com/h","description":"","eventTypes":[],"enabled":true,"deliveryMode":"always","timeoutSeconds":10}`
	planJSON     = `{"id":"flat","name":"Flat","utility":"Co","createdAt":"2026-07-01T00:00:00.000Z","updatedAt":"2026-07-01T00:00:00.000Z"}`
	progressJSON = `{"triggerId":"trg_1","organizationId":"acme","status":"COMPLETED","startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-02T00:00:00.000Z",
		"homes":3,"walked":3,"outcomes":{"DELIVERED":2,"FAILED":1},"createdAt":"2026-07-01T00:00:00.000Z","completedAt":"2026-07-01T00:00:01.500Z"}`
	notificationJSON = `{"triggerId":"trg_2","organizationId":"acme","status":"COMPLETED","startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-02T00:00:00.000Z",
		"homes":1,"walked":1,"outcomes":{"DELIVERED":1},"createdAt":"2026-07-01T00:00:00.000Z","completedAt":"2026-07-01T00:00:01.500Z",
		"notification":{"objectType":"EVENT","operation":"UPDATE","objectId":"flat_20260701"}}`
	deliveryJSON = `{"id":"msg_1","homeId":"h1","endpointId":"ep_1","outcome":"FAILED","attempt":4,"at":"2026-07-01T00:00:00.000Z","status":500,"reason":"HTTP\u001b[31m 500"}`
	signalJSON   = `{"homeId":"h1","startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-01T00:45:00.000Z","data":[
		{"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-01T00:15:00.000Z","price":0.2,"import":0.2,"export":0.05,"confidence":1},
		{"startTime":"2026-07-01T00:15:00.000Z","endTime":"2026-07-01T00:30:00.000Z","price":0.2,"import":0.2,"export":0.05,"confidence":1},
		{"startTime":"2026-07-01T00:30:00.000Z","endTime":"2026-07-01T00:45:00.000Z","price":0.4,"import":0.4,"export":0.05,"confidence":1}],
		"prices":[0.2,0.2,0.4],"export":[0.05,0.05,0.05],"import":[0.2,0.2,0.4],
		"metadata":{"exportCompensation":{"type":"NET_BILLING","description":"Paid by the hour."},"importSource":"Co: Flat","sequence":7}}`
)

func data(items ...string) string { return `{"data":[` + strings.Join(items, ",") + `],"next":null}` }

// Each command sends one request and prints its response.
func TestCommands(t *testing.T) {
	tariff := filepath.Join(t.TempDir(), "tariff.json")
	if err := os.WriteFile(tariff, []byte(byteOrderMark+`{"items": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args   string
		path   string
		org    string // organization of the request
		body   string
		answer string
		out    string
	}{
		{
			"org create --id acme --name Acme --child a --child b", "/v1/admin/organizations/create", "",
			`{"id":"acme","name":"Acme","childOrganizationIds":["a","b"]}`,
			`{"id":"acme","name":"Acme","childOrganizationIds":["a","b"],"createdAt":"2026-07-01T00:00:00.000Z"}`,
			"organization  acme\nname          Acme\nacts for      a,b\ncreated       2026-07-01T00:00:00Z\n",
		},
		{
			"audit list --organization acme --key operator", "/v1/admin/audit/list", "", `{"organizationId":"acme","keyId":"operator","limit":1000}`,
			data(`{"id":"aud_1","time":"2026-07-01T00:00:00.000Z","organizationId":"acme","keyId":"operator","operation":"createKey","objectId":"key_1","status":200}`),
			"TIME                  ORGANIZATION  KEY       OPERATION  OBJECT  STATUS\n2026-07-01T00:00:00Z  acme          operator  createKey  key_1   200\n",
		},
		{
			"org export acme", "/v1/admin/organizations/acme/export", "", `{"limit":1000}`,
			data(`{"resource":"organization","id":"acme"}`, `{"resource":"home","id":"h1"}`),
			`{"resource":"organization","id":"acme"}` + "\n" + `{"resource":"home","id":"h1"}` + "\n",
		},
		{
			"org usage acme", "/v1/admin/organizations/acme/usage", "", `{}`,
			`{"organizationId":"acme","homes":3,"devices":1,"endpoints":2,"schedules":1,"keys":4,"storedBytes":2048,"waitingTriggers":5,"historyBytes":0,"deliveries":6}`,
			"homes             3\ndevices           1\nendpoints         2\nschedules         1\nkeys              4\nstored bytes      2048\nwaiting triggers  5\nhistory bytes     0\ndeliveries        6\n",
		},
		{
			"operator create --name ada --role read", "/v1/admin/operator_keys/create", "", `{"name":"ada","role":"read"}`,
			`{"keyId":"opk_1","name":"ada","role":"read","key":"gho_opk_1_ab"}`,
			"key         gho_opk_1_ab\nidentifier  opk_1\nname        ada\nrole        read\n\nStore the key now: it cannot be shown again.\n",
		},
		{
			"operator list", "/v1/admin/operator_keys/list", "", `{"limit":1000}`,
			data(`{"keyId":"opk_1","name":"ada","role":"read","revokedAt":"2026-07-01T00:00:00.000Z","createdAt":"2026-07-01T00:00:00.000Z"}`),
			"ID     NAME  ROLE  STATE    EXPIRES  CREATED\nopk_1  ada   read  revoked  -        2026-07-01T00:00:00Z\n",
		},
		{"operator revoke opk_1", "/v1/admin/operator_keys/opk_1/revoke", "", `{}`, `{"keyId":"opk_1"}`, "opk_1 is revoked.\n"},
		{
			"org list", "/v1/admin/organizations/list", "", `{"limit":1000}`,
			data(`{"id":"acme","name":"Acme","suspended":true,"createdAt":"2026-07-01T00:00:00.000Z"}`),
			"ID    NAME  SUSPENDED  CREATED\nacme  Acme  true       2026-07-01T00:00:00Z\n",
		},
		{"org list", "/v1/admin/organizations/list", "", `{"limit":1000}`, data(), "There are no organizations.\n"},
		{
			"org get acme", "/v1/admin/organizations/acme/get", "", `{}`, `{"id":"acme","name":"Acme"}`,
			"organization  acme\nname          Acme\n",
		},
		{
			"key create --org acme --scopes read,trigger --expires 2027-01-01T00:00:00Z", "/v1/admin/keys/create", "acme",
			`{"organizationId":"acme","scopes":["read","trigger"],"expiresAt":"2027-01-01T00:00:00.000Z"}`,
			`{"keyId":"key_1","organizationId":"acme","scopes":["read","trigger"],"key":"ghk_key_1_s","expiresAt":"2027-01-01T00:00:00.000Z"}`,
			"key           ghk_key_1_s\nidentifier    key_1\norganization  acme\nscopes        read,trigger\nexpires       2027-01-01T00:00:00Z\n\n" +
				"Store the key now: it cannot be shown again.\n",
		},
		{
			"key list --org acme", "/v1/admin/keys/list", "acme", `{"organizationId":"acme","limit":1000}`,
			data(`{"keyId":"key_1","scopes":["read"]}`, `{"keyId":"key_2","scopes":["read"],"revokedAt":"2026-07-01T00:00:00.000Z"}`,
				`{"keyId":"key_3","scopes":["read"],"expiresAt":"2020-07-01T00:00:00.000Z","description":"old"}`),
			"ID     SCOPES  STATE    EXPIRES               CREATED  LAST USED  DESCRIPTION\n" +
				"key_1  read    live     -                     -        -          -\n" +
				"key_2  read    revoked  -                     -        -          -\n" +
				"key_3  read    expired  2020-07-01T00:00:00Z  -        -          old\n",
		},
		{"key revoke key_1", "/v1/admin/keys/key_1/revoke", "", `{}`, `{"keyId":"key_1"}`, "key_1 is revoked.\n"},
		{
			"key rotate key_1 --overlap 1h", "/v1/admin/keys/key_1/rotate", "", `{"overlapSeconds":3600}`, `{"keyId":"key_2","key":"ghk_key_2_s"}`,
			"key         ghk_key_2_s\nidentifier  key_2\n\n" +
				"Store the key now: it cannot be shown again.\n",
		},
		{
			"home create --org acme --id h1 --name X --plan flat --carbon HIGH", "/v1/admin/homes/create", "acme",
			`{"organizationId":"acme","id":"h1","name":"X","ratePlanId":"flat","carbonSignalIntensity":"HIGH"}`, homeJSON,
			"home          h1\norganization  acme\nname          Blue house\nrate plan     flat\ntime zone     America/Chicago\n" +
				"address       60614, US\ncarbon        LOW\nenabled       true\ncreated       2026-07-01T00:00:00Z\nupdated       2026-07-02T00:00:00Z\n",
		},
		{
			"home list --org acme", "/v1/homes/list", "acme", `{"limit":1000}`, data(homeJSON),
			"ID  NAME        PLAN  TIMEZONE         ZIPCODE  CARBON  ENABLED\nh1  Blue house  flat  America/Chicago  60614    LOW     true\n",
		},
		{
			"home list --org acme --plan flat", "/v1/homes/list", "acme", `{"limit":1000,"ratePlanId":"flat"}`, data(homeJSON),
			"ID  NAME        PLAN  TIMEZONE         ZIPCODE  CARBON  ENABLED\nh1  Blue house  flat  America/Chicago  60614    LOW     true\n",
		},
		{
			"home get h1 --org acme", "/v1/homes/h1/get", "acme", `{}`, `{"id":"h1","organizationId":"acme","timezone":"America/Chicago","enabled":true,"solar":{"solarSystemSizeKw":6.5,"isNonNetMetered":true,"exportValues":"PG&E NBT24"}}`,
			"home             h1\norganization     acme\ntime zone        America/Chicago\nenabled          true\nsolar            6.5 kW\nnot net metered  true\nexport values    PG&E NBT24\n",
		},
		{
			"device list --org acme --home h1", "/v1/devices/hvac/list", "acme", `{"limit":1000,"homeId":"h1"}`,
			data(`{"deviceId":"d1","homeId":"h1","linked":true,"systemDetails":{"name":"Hall","tempUnits":"F","defaultMode":"AUTO"},"targetHeatSetpoint":68,"targetCoolSetpoint":75.5}`),
			"ID  HOME  NAME  MODE  HEAT  COOL  UNITS  LINKED\nd1  h1    Hall  AUTO  68    75.5  F      true\n",
		},
		{
			"home update h1 --org acme --plan flat --enabled=false", "/v1/admin/homes/h1/update", "acme",
			`{"organizationId":"acme","ratePlanId":"flat","enabled":false}`, homeJSON,
			"home          h1\norganization  acme\nname          Blue house\nrate plan     flat\ntime zone     America/Chicago\n" +
				"address       60614, US\ncarbon        LOW\nenabled       true\ncreated       2026-07-01T00:00:00Z\nupdated       2026-07-02T00:00:00Z\n",
		},
		{"home delete h1 --org acme", "/v1/admin/homes/h1/delete", "acme", `{"organizationId":"acme"}`, `{"id":"h1","deleted":true}`, "h1 is deleted.\n"},
		{
			"plan import --id flat " + tariff, "/v1/admin/plans/import", "", `{"id":"flat","tariff":{"items":[]}}`, planJSON,
			"plan     flat\nfor      the homes of all organizations\nutility  Co\nname     Flat\ncreated  2026-07-01T00:00:00Z\nupdated  2026-07-01T00:00:00Z\n",
		},
		{
			"plan add pge-e-elec --org acme", "/v1/admin/plans/import", "acme", `{"catalogId":"pge-e-elec","id":"pge-e-elec","organizationId":"acme"}`,
			strings.Replace(planJSON, "{", `{"organizationId":"acme",`, 1),
			"plan     flat\nfor      only the homes of acme\nutility  Co\nname     Flat\ncreated  2026-07-01T00:00:00Z\nupdated  2026-07-01T00:00:00Z\n",
		},
		{
			"plan add --id cca --part DELIVERY=pge --part generation=mce --part ADJUSTMENT=care:pge,mce", "/v1/admin/plans/import", "",
			`{"id":"cca","parts":[{"planId":"pge","role":"DELIVERY"},{"planId":"mce","role":"GENERATION"},{"planId":"care","role":"ADJUSTMENT","appliesTo":["pge","mce"]}]}`,
			strings.Replace(planJSON, "{", `{"parts":[{"planId":"pge","role":"DELIVERY"},{"planId":"care","role":"ADJUSTMENT","appliesTo":["pge"]}],`, 1),
			"plan     flat\nfor      the homes of all organizations\nutility  Co\nname     Flat\nparts    DELIVERY=pge ADJUSTMENT=care:pge\n" +
				"created  2026-07-01T00:00:00Z\nupdated  2026-07-01T00:00:00Z\n",
		},
		{
			"plan list --org acme", "/v1/admin/plans/list", "acme", `{"organizationId":"acme","limit":1000}`, data(planJSON),
			"ID    UTILITY  NAME  UPDATED\nflat  Co       Flat  2026-07-01T00:00:00Z\n",
		},
		{
			"plan event create flat --from 2026-07-01T21:00:00Z --to 2026-07-02T01:00:00Z --adder 0.6 --name heat", "/v1/admin/plan_events/create", "",
			`{"planId":"flat","kind":"CRITICAL_PEAK","name":"heat","from":"2026-07-01T21:00:00.000Z","to":"2026-07-02T01:00:00.000Z","adder":0.6}`,
			`{"id":"e","kind":"CRITICAL_PEAK","name":"heat","from":"2026-07-01T21:00:00.000Z","to":"2026-07-02T01:00:00.000Z","adder":0.6}`,
			"ID  KIND           NAME  FROM                  TO                    ADDER $/kWh  PRICE $/kWh\n" +
				"e   CRITICAL_PEAK  heat  2026-07-01T21:00:00Z  2026-07-02T01:00:00Z  0.6          -\n",
		},
		{"plan event list flat --org acme", "/v1/admin/plan_events/list", "acme", `{"organizationId":"acme","planId":"flat"}`, data(), "There are no events.\n"},
		{"plan event delete flat e", "/v1/admin/plan_events/e/delete", "", `{"planId":"flat"}`, `{"id":"e","deleted":true}`, "e is deleted.\n"},
		{
			"market list", "/v1/admin/market_series/list", "", `{"limit":1000}`,
			data(`{"id":"REAL_TIME--N","node":"N","market":"REAL_TIME","stepMinutes":60,"prices":24,"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-02T00:00:00.000Z"}`),
			"ID            NODE  MARKET     MINUTES  PRICES  FROM                  TO\nREAL_TIME--N  N     REAL_TIME  60       24      2026-07-01T00:00:00Z  2026-07-02T00:00:00Z\n",
		},
		{"market delete REAL_TIME--N", "/v1/admin/market_series/REAL_TIME--N/delete", "", `{}`, `{"id":"REAL_TIME--N","deleted":true}`, "REAL_TIME--N is deleted.\n"},
		{"feedback delete fb_1", "/v1/admin/feedback/fb_1/delete", "", `{}`, `{"id":"fb_1","deleted":true}`, "fb_1 is deleted.\n"},
		{
			"feedback list", "/v1/admin/feedback/list", "", `{"limit":1000}`, data(`{"feedback_id":"fb_1","feedback_type":"bug","summary":"Wrong price","message":"m","createdAt":"2026-07-01T00:00:00.000Z"}`),
			"ID    TIME                  TYPE  SUMMARY\nfb_1  2026-07-01T00:00:00Z  bug   Wrong price\n",
		},
		{"plan delete flat", "/v1/admin/plans/flat/delete", "", `{}`, `{"id":"flat","deleted":true}`, "flat is deleted.\n"},
		{
			"endpoint create --org acme --url https://example.com/h --event webhook.test --header X-A:1 --mode onChange", "/v1/webhook/endpoints/create", "acme",
			`{"url":"https://example.com/h","eventTypes":["webhook.test"],"headers":{"X-A":"1"},"deliveryMode":"onChange"}`,
			strings.Replace(endpointJSON, `{`, `{"secret":"whsec_1","rateLimit":5,`, 1),
			"endpoint    ep_1\nurl         https://example.com/h\nevents      all\nenabled     true\nmode        always\ntimeout     10 s\nrate limit  5 per second\n" +
				"secret      whsec_1\n\nStore the secret now: it cannot be shown again.\n",
		},
		{
			"endpoint update ep_1 --org acme --enabled=false --event=", "/v1/webhook/endpoints/ep_1/update", "acme", `{"eventTypes":[],"enabled":false}`, endpointJSON,
			"endpoint  ep_1\nurl       https://example.com/h\nevents    all\nenabled   true\nmode      always\ntimeout   10 s\n",
		},
		{
			"endpoint pause ep_1 --org acme", "/v1/webhook/endpoints/ep_1/update", "acme", `{"enabled":false}`, endpointJSON,
			"endpoint  ep_1\nurl       https://example.com/h\nevents    all\nenabled   true\nmode      always\ntimeout   10 s\n",
		},
		{
			"endpoint resume ep_1 --org acme", "/v1/webhook/endpoints/ep_1/update", "acme", `{"enabled":true}`, endpointJSON,
			"endpoint  ep_1\nurl       https://example.com/h\nevents    all\nenabled   true\nmode      always\ntimeout   10 s\n",
		},
		{
			"endpoint update ep_1 --org acme --timeout 1500ms --rate-limit 0.5", "/v1/webhook/endpoints/ep_1/update", "acme", `{"timeoutSeconds":1.5,"rateLimit":0.5}`, endpointJSON,
			"endpoint  ep_1\nurl       https://example.com/h\nevents    all\nenabled   true\nmode      always\ntimeout   10 s\n",
		},
		{
			"home list --org acme -o wide", "/v1/homes/list", "acme", `{"limit":1000}`, data(homeJSON),
			"ID  NAME        PLAN  TIMEZONE         ZIPCODE  CARBON  ENABLED  UTILITY  USER  CREATED               UPDATED\n" +
				"h1  Blue house  flat  America/Chicago  60614    LOW     true     -        -     2026-07-01T00:00:00Z  2026-07-02T00:00:00Z\n",
		},
		{
			"endpoint list --org acme", "/v1/webhook/endpoints/list", "acme", `{"limit":1000}`, data(strings.Replace(endpointJSON, `{`, `{"breaker":{"state":"HALF_OPEN"},"health":{"state":"FAILING"},`, 1)),
			"ID    URL                    ENABLED  MODE    EVENTS  HEALTH   BREAKER\nep_1  https://example.com/h  true     always  all     FAILING  HALF_OPEN\n",
		},
		{
			"endpoint get ep_1 --org acme", "/v1/webhook/endpoints/ep_1/get", "acme", `{}`,
			strings.Replace(endpointJSON, `{`, `{"breaker":{"state":"OPEN","since":"2026-07-01T00:00:09.000Z","nextProbeAt":"2026-07-01T00:01:09.000Z","workers":1},"health":{"state":"FAILING","failingSince":"2026-07-01T00:00:00.000Z","consecutiveFailures":7,"lastFailure":"the endpoint responded 500"},`, 1),
			"endpoint  ep_1\nurl       https://example.com/h\nevents    all\nenabled   true\nmode      always\n" +
				"health    FAILING since 2026-07-01T00:00:00Z, failures in a row: 7, last: the endpoint responded 500\nbreaker   OPEN since 2026-07-01T00:00:09Z, next probe 2026-07-01T00:01:09Z\ntimeout   10 s\n",
		},
		{"endpoint delete ep_1 --org acme", "/v1/webhook/endpoints/ep_1/delete", "acme", `{}`, `{"id":"ep_1","deleted":true}`, "ep_1 is deleted.\n"},
		{
			"endpoint test ep_1 --org acme", "/v1/webhook/endpoints/ep_1/test", "acme", `{}`, `{"id":"msg_1","outcome":"DELIVERED","status":204,"durationMs":12.3}`,
			"outcome  DELIVERED\nstatus   204\ntook     12.3 ms\nmessage  msg_1\n",
		},
		{
			"trigger --org acme --start 2026-07-01T00:00:00Z --end 2026-07-02T02:00:00+02:00", "/v1/webhook/price_signal/trigger", "acme",
			`{"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-02T00:00:00.000Z"}`,
			`{"triggerId":"trg_1","status":"ACCEPTED","startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-02T00:00:00.000Z","homes":3}`,
			"trigger  trg_1\nstatus   ACCEPTED\nwindow   2026-07-01T00:00:00Z to 2026-07-02T00:00:00Z\nhomes    3\n",
		},
		{
			"trigger get trg_1 --org acme", "/v1/webhook/price_signal/trigger/trg_1/get", "acme", `{}`, progressJSON,
			"trigger       trg_1\norganization  acme\nstatus        COMPLETED\nwindow        2026-07-01T00:00:00Z to 2026-07-02T00:00:00Z\nhomes         3\nwalked        3\n" +
				"DELIVERED     2\nFAILED        1\ncreated       2026-07-01T00:00:00Z\ncompleted     2026-07-01T00:00:01Z, after 1.5s\n",
		},
		{
			"trigger list --org acme --limit 1", "/v1/webhook/price_signal/trigger/list", "acme", `{"limit":1}`, data(progressJSON),
			"ID     STATUS     HOMES  WALKED  DELIVERIES                    CREATED               COMPLETED\ntrg_1  COMPLETED  3      3       2 delivered, 1 not delivered  2026-07-01T00:00:00Z  2026-07-01T00:00:01Z\n",
		},
		{
			"trigger get trg_2 --org acme", "/v1/webhook/price_signal/trigger/trg_2/get", "acme", `{}`, notificationJSON,
			"trigger       trg_2\norganization  acme\nstatus        COMPLETED\nnotification  UPDATE of the EVENT flat_20260701\nwindow        2026-07-01T00:00:00Z to 2026-07-02T00:00:00Z\nhomes         1\nwalked        1\n" +
				"DELIVERED     1\ncreated       2026-07-01T00:00:00Z\ncompleted     2026-07-01T00:00:01Z, after 1.5s\n",
		},
		{
			"trigger list --org acme --limit 2", "/v1/webhook/price_signal/trigger/list", "acme", `{"limit":2}`, data(notificationJSON),
			"ID     STATUS     HOMES  WALKED  DELIVERIES                                            CREATED               COMPLETED\ntrg_2  COMPLETED  1      1       1 delivered, notification of the EVENT flat_20260701  2026-07-01T00:00:00Z  2026-07-01T00:00:01Z\n",
		},
		{
			"delivery list --org acme --trigger trg_1 --outcome failed --limit 5", "/v1/webhook/deliveries/list", "acme",
			`{"triggerId":"trg_1","outcome":"FAILED","limit":5}`, data(deliveryJSON),
			"MESSAGE  HOME  ENDPOINT  OUTCOME  ATTEMPTS  STATUS  AT                    NEXT  REASON\nmsg_1    h1    ep_1      FAILED   4         500     2026-07-01T00:00:00Z  -     HTTP [31m 500\n",
		},
		{
			"delivery list --org acme --home h1 --endpoint ep_1 --since 2026-07-01T00:00:00Z --until 2026-07-02T00:00:00Z", "/v1/webhook/deliveries/list", "acme",
			`{"homeId":"h1","endpointId":"ep_1","since":"2026-07-01T00:00:00.000Z","until":"2026-07-02T00:00:00.000Z","limit":1000}`, data(), "There are no matching deliveries.\n",
		},
		{
			"delivery events --org acme --endpoint ep_1 --limit 5", "/v1/webhook/deliveries/list", "acme",
			`{"events":true,"endpointId":"ep_1","limit":5}`, data(`{"id":"msg_2","triggerId":"evt_1","eventType":"flex_alert","homeId":"","endpointId":"ep_1","outcome":"DELIVERED","attempt":1,"status":204,"at":"2026-07-01T00:00:00.000Z"}`),
			"MESSAGE  EVENT       ENDPOINT  OUTCOME    ATTEMPTS  STATUS  AT                    NEXT  REASON\nmsg_2    flex_alert  ep_1      DELIVERED  1         204     2026-07-01T00:00:00Z  -     -\n",
		},
		{"delivery events --outcome failed", "/v1/webhook/deliveries/list", "", `{"events":true,"outcome":"FAILED","limit":1000}`, data(), "There are no matching deliveries of events.\n"},
		{
			"channel get ch_1 --org acme", "/v1/channels/ch_1/get", "acme", `{}`,
			`{"id":"ch_1","kind":"SLACK","address":"https://hooks.example/********","events":[],"enabled":true,"health":{"state":"FAILING","consecutiveFailures":2,"failingSince":"2026-07-01T00:00:00.000Z","lastFailure":"status 404"}}`,
			"channel  ch_1\nkind     SLACK\naddress  https://hooks.example/********\nevents   all\nenabled  true\nhealth   FAILING since 2026-07-01T00:00:00Z, failures in a row: 2, last: status 404\n",
		},
		{
			"delivery get msg_1 --org acme", "/v1/webhook/deliveries/msg_1/get", "acme", `{}`,
			strings.Replace(deliveryJSON, "{", `{"triggerId":"trg_1","attempts":[{"attempt":1,"outcome":"RETRYING","at":"2026-07-01T00:00:00.000Z","errorClass":"timeout","durationMs":10000},{"attempt":2,"outcome":"RETRYING","at":"2026-07-01T00:00:09.000Z","status":500,"errorClass":"status","durationMs":12.34,"timing":{"dnsMs":1,"connectMs":2.25,"tlsMs":3,"firstByteMs":4},"reason":"no","answer":"oops\u001b[0m \u202ebackwards"},{"attempt":2,"outcome":"FAILED","at":"2026-07-01T00:00:19.000Z","reason":"disabled"}],`, 1),
			"message   msg_1\ntrigger   trg_1\nhome      h1\nendpoint  ep_1\noutcome   FAILED\n\n" +
				"ATTEMPT  AT                    TOOK      DNS ms  CONNECT ms  TLS ms  FIRST BYTE ms  STATUS  ERROR    REASON\n" +
				"1        2026-07-01T00:00:00Z  10000 ms  -       -           -       -              -       timeout  -\n" +
				"2        2026-07-01T00:00:09Z  12.34 ms  1       2.25        3       4              500     status   no\n" +
				"-        2026-07-01T00:00:19Z  -         -       -           -       -              -       -        disabled\n\nlast response: oops [0m  backwards\n",
		},
		{
			"signal h1 --org acme", "/v1/homes/h1/price_signal", "acme", `{}`, signalJSON,
			"FROM                  TO                    PRICE $/kWh  IMPORT $/kWh  EXPORT $/kWh  CONFIDENCE\n" +
				"2026-07-01T00:00:00Z  2026-07-01T00:30:00Z  0.20000      0.20000       0.05000       1\n" +
				"2026-07-01T00:30:00Z  2026-07-01T00:45:00Z  0.40000      0.40000       0.05000       1\n\nimport: Co: Flat\nexport: NET_BILLING, Paid by the hour.\n",
		},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON))) // a trigger looks there
			f.on("/v1/homes/h1/price_signal", ok(`{}`))                // and a stored home
			f.on(test.path, ok(test.answer))
			got := run(t, f, "", strings.Fields(test.args))
			if got.code != 0 || got.err != "" {
				t.Fatalf("exit %d: %s", got.code, got.err)
			}
			if got.out != test.out {
				t.Errorf("it shows\n%s\nwant\n%s", got.out, test.out)
			}
			if r := f.newest(test.path); r.org != test.org || r.key != testKey || !sameJSON(t, r.body, test.body) {
				t.Errorf("it sent %+v, want for %q\n%s", r, test.org, test.body)
			}
		})
	}
}

// With --json a command prints the response for programs, and lists as arrays.
func TestJSON(t *testing.T) {
	tests := []struct{ args, path, answer, out string }{
		{
			"key create --org acme --json", "/v1/admin/keys/create", `{"keyId":"key_1","organizationId":"acme","scopes":["read"],"key":"ghk_key_1_s"}`,
			`{"keyId":"key_1","organizationId":"acme","scopes":["read"],"key":"ghk_key_1_s"}`,
		},
		{"org list --json", "/v1/admin/organizations/list", data(), `[]`},
		{"org list -o json", "/v1/admin/organizations/list", data(), `[]`},
		{"trigger get trg_1 --org acme --json", "/v1/webhook/price_signal/trigger/trg_1/get", progressJSON, progressJSON},
		{"delivery list --trigger trg_1 --org acme --json", "/v1/webhook/deliveries/list", data(deliveryJSON), `[` + deliveryJSON + `]`},
		{"home delete h1 --org acme --json", "/v1/admin/homes/h1/delete", `{"id":"h1","deleted":true}`, `{"id":"h1","deleted":true}`},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			f := newFake(t)
			f.on(test.path, ok(test.answer))
			got := run(t, f, "", strings.Fields(test.args))
			if got.code != 0 || !sameJSON(t, got.out, test.out) {
				t.Errorf("exit %d, %s\n%s\nwant\n%s", got.code, got.err, got.out, test.out)
			}
		})
	}
}

func TestPlan_StandardInput(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plans/import", ok(planJSON))
	if got := run(t, f, `{"rate": 1}`, []string{"plan", "import", "--id", "flat", "--org", "acme", "-"}); got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	if want := `{"id":"flat","organizationId":"acme","tariff":{"rate":1}}`; !sameJSON(t, f.last().body, want) {
		t.Errorf("it sent %s, want %s", f.last().body, want)
	}
}

func TestDeliveries_Limit(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/deliveries/list", ok(`{"data":[`+strings.Repeat(deliveryJSON+",", 999)+deliveryJSON+`],"next":"c"}`))
	got := run(t, f, "", []string{"delivery", "list", "--org", "acme", "--trigger", "trg_1", "--limit", "1500"})
	if n := len(f.requests); got.code != 0 || n != 2 {
		t.Fatalf("exit %d after %d requests: %s", got.code, n, got.err)
	}
	if want := `{"triggerId":"trg_1","limit":500,"after":"c"}`; !sameJSON(t, f.last().body, want) {
		t.Errorf("requested %s, want %s", f.last().body, want)
	}
}

// TestList_DefaultLimit checks that a list without --limit ends at the limit in its help.
func TestList_DefaultLimit(t *testing.T) {
	for list, tt := range map[string]struct {
		path, item         string
		page, requests     int
		firstLimit, inHelp string
	}{
		"delivery": {"/v1/webhook/deliveries/list", deliveryJSON, 1000, 10, `{"limit":1000}`, "default 10000"},
		"trigger":  {"/v1/webhook/price_signal/trigger/list", progressJSON, 20, 1, `{"limit":20}`, "default 20"},
	} {
		f := newFake(t)
		page := ok(`{"data":[` + strings.Repeat(tt.item+",", tt.page-1) + tt.item + `],"next":"c"}`)
		f.on(tt.path, append(slices.Repeat([]answer{page}, tt.requests), ok(data()))...)
		got := run(t, f, "", []string{list, "list", "--org", "acme"})
		if want := fmt.Sprintf("the list ends after %d ", tt.page*tt.requests); !strings.HasPrefix(got.err, want) {
			t.Errorf("%s: it says %q, want %q", list, got.err, want)
		}
		if n := len(f.requests); got.code != 0 || n != tt.requests || !sameJSON(t, f.requests[0].body, tt.firstLimit) {
			t.Errorf("%s: exit %d after %d requests, the first %s", list, got.code, n, f.requests[0].body)
		}
		if help := run(t, nil, "", []string{list, "list", "--help"}); !strings.Contains(help.out, tt.inHelp) {
			t.Errorf("%s: the help is %s", list, help.out)
		}
	}
}

// fullDisk refuses every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestCompletion_FullDisk checks that a failed write is no error of the command line.
func TestCompletion_FullDisk(t *testing.T) {
	got := runWith(t, nil, "", []string{"completion", "bash"}, func(g *globals) { g.out = fullDisk{} })
	if got.code != exitFailure || got.err != "gridhook: no space left on device\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// TestOrgExport_FullDisk checks that an incomplete file is an error.
func TestOrgExport_FullDisk(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/organizations/acme/export", ok(data(`{"resource":"organization","id":"acme"}`)))
	got := runWith(t, f, "", []string{"org", "export", "acme"}, func(g *globals) { g.out = fullDisk{} })
	if got.code != exitFailure || got.err != "gridhook: no space left on device\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestEndpointTest_Failure(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/ep_1/test", ok(`{"outcome":"FAILED","status":500}`))
	if got := run(t, f, "", []string{"endpoint", "test", "ep_1", "--org", "acme"}); got.code != exitFailure || !strings.Contains(got.out, "FAILED") {
		t.Errorf("exit %d with %s", got.code, got.out)
	}
}

func TestVersion(t *testing.T) {
	if got := run(t, nil, "", []string{"version"}); got.out != "gridhook v1.2.3\ngo1.26 linux/amd64\n" {
		t.Errorf("it shows %q", got.out)
	}
	if got := run(t, nil, "", []string{"version", "--json"}); !sameJSON(t, got.out, `{"version":"v1.2.3","go":"go1.26","platform":"linux/amd64"}`) {
		t.Errorf("it shows %q", got.out)
	}
	if v := readVersion(); v.Version == "" || v.Go == "" {
		t.Errorf("the build says %+v", v)
	}
}
