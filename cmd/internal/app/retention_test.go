package app

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

// retention is what bounds some records and what removes them.
type retention struct {
	// Records names the records, and Stream the stream that holds them.
	Records, Stream string
	// Kinds are the kinds of the records, if the stream is the log of record.
	Kinds []storage.Kind
	// Bound and Removed are Markdown. A setting is in backquotes.
	Bound, Removed string
}

type kinds = []storage.Kind

// retentions has the retention of every record. The operator's guide shows it.
var retentions = []retention{
	{"organizations, utilities, areas, shared plans", "GRIDHOOK_STATE", kinds{storage.KindOrganization, storage.KindUtility, storage.KindDemandResponse, storage.KindArea}, "the operator", "by the operator. A [deleted organization](organizations.md#deleting-an-organization) takes everything of its own with it"},
	{"API keys", "GRIDHOOK_STATE", kinds{storage.KindKey, storage.KindKeyUse}, "`max-keys` that are neither revoked nor expired", "30 days after their revocation or expiry, and still refused. Keys of console links: within 10 minutes"},
	{"operator keys", "GRIDHOOK_STATE", kinds{storage.KindOperatorKey}, "the operator", "never: a revoked key stays refused"},
	{"the version of the schema, and the key that encrypts secrets", "GRIDHOOK_STATE", kinds{storage.KindSchema, storage.KindVault}, "one of each", "never"},
	{"homes", "GRIDHOOK_STATE", kinds{storage.KindHome}, "`max-homes`", "by the organization"},
	{"schedules", "GRIDHOOK_STATE", kinds{storage.KindSchedule}, "`max-schedules`", "by the organization"},
	{"devices with their schedules, plans, events of plans, market series", "GRIDHOOK_STATE", kinds{storage.KindHVACDevice, storage.KindUserPreferences, storage.KindRatePlan, storage.KindPlanEvent, storage.KindMarketSeries}, "`max-state`, as for all records of an organization", "by the organization. Devices go with their home, too"},
	{"solar, usage, market and onboarding of a home", "GRIDHOOK_STATE", kinds{storage.KindSolar, storage.KindUsage, storage.KindHomeMarket, storage.KindOnboarding}, "one of each a home", "with the home"},
	{"measured load of a home", "GRIDHOOK_STATE", kinds{storage.KindMeasuredLoad}, "13 months a home, about 2 KB", "by newer months, and with the home"},
	{"market prices", "GRIDHOOK_STATE", kinds{storage.KindMarketPrices}, "731 days a series", "by newer prices, and with the series"},
	{"webhook endpoints", "GRIDHOOK_STATE", kinds{storage.KindWebhookEndpoint}, "`max-endpoints`", "by the organization; [relay endpoints](endpoints.md#relay) also an hour after a client last began to listen"},
	{"notification channels", "GRIDHOOK_STATE", kinds{storage.KindChannel}, "`max-channels`", "by the organization, or the operator"},
	{"sources", "GRIDHOOK_STATE", kinds{storage.KindSource}, "`max-sources` for each organization and for the operator", "by the operator"},
	{"the state of a source with its last 20 runs", "GRIDHOOK_STATE", kinds{storage.KindSourceState}, "one a source", "with the source"},
	{"OpenADR programs, events, subscriptions, VENs and resources", "GRIDHOOK_STATE", kinds{storage.KindOpenADRProgram, storage.KindOpenADREvent, storage.KindOpenADRSubscription, storage.KindOpenADRVEN, storage.KindOpenADRResource}, "`openadr-max-objects` of each", "by the client"},
	{"OpenADR reports", "GRIDHOOK_STATE", kinds{storage.KindOpenADRReport}, "`openadr-max-objects`", "after `openadr-report-retention`"},
	{"replays", "GRIDHOOK_STATE", kinds{storage.KindReplay}, "10,000 of each organization", "7 days after completion"},
	{"deletions", "GRIDHOOK_STATE", nil, "`max-state`, as for all records of an organization. Of a kind with a limit, five times the limit, at least 10,000: then no more of the kind can be created", "after 30 days"},
	{"marks of deleted organizations", "GRIDHOOK_STATE", kinds{storage.KindErasure}, "one for each", "a day after the longest of 30 days, `triggers-age` and `receipts-age`"},
	{"marks of deleted solar, usage, measured load or market settings of an existing home", "GRIDHOOK_STATE", nil, "one for each", "30 days after the deletion of the home"},
	{"deletions of a plan or series that a shared one replaces", "GRIDHOOK_STATE", nil, "one for each", "when the plan or series is created again"},
	{"idempotency keys", "GRIDHOOK_REQUESTS", nil, "`max-idempotency-keys` for each organization. 100,000 of at most 32 KiB in all, the oldest go first", "24 hours after the first request, in NATS after 25 hours"},
	{"feedback", "GRIDHOOK_FEEDBACK", nil, "2,000 of at most 256 KiB and a 64th of the store; the oldest go first", "after 365 days, or by the operator"},
	{"audit entries", "GRIDHOOK_AUDIT", nil, "1,000,000 and a 32nd of the store in all, a hundredth of them for each operation of an organization's API keys or of an operator key; the oldest go first", "`audit-age`"},
	{"triggers", "GRIDHOOK_TRIGGERS", nil, "`max-waiting`, and `max-history`, which counts each as often as `triggers-age` is longer than `receipts-age`", "`triggers-age`"},
	{"receipts, and in each ledger the delivery log and triggers as the API shows them", "GRIDHOOK_RECEIPTS", nil, "`max-history`", "`receipts-age`"},
	{"notices", "GRIDHOOK_NOTICES", nil, "one a trigger, which `max-history` counts, a disabled endpoint, and an alert for each organization, and [those for people](notifications.md#events)", "the longer of `triggers-age` and `receipts-age`"},
	{"slices of walks", "GRIDHOOK_WORK", nil, "a few for each running trigger", "when they are processed"},
	{"retries", "GRIDHOOK_RETRIES", nil, "the homes of `max-waiting` triggers for each endpoint, and `max-history`, which counts their bytes", "when they are sent, at most 24 hours"},
	{"tasks", "GRIDHOOK_TASKS", nil, "one a schedule, replay, change of a source, and notice of a channel or an endpoint; `max-history` counts one for each trigger and endpoint that wants its completion", "when they are done"},
	{"last signals of endpoints with `onChange`", "GRIDHOOK_KNOWN", nil, "one for each endpoint and 64 homes, 5,000,000 and a 32nd of the store in all; the oldest go first", "by the next, or after 30 days: then Gridhook sends an unchanged signal once more"},
	{"positions of walks", "GRIDHOOK_WALKS", nil, "one a trigger", "after 25 hours"},
	{"dead letters", "GRIDHOOK_DEAD", nil, "1,000 and a 128th of the store, the oldest go first", "after 30 days"},
	{"MQTT sessions", "$MQTT_sess", nil, "4,096 of at most 64 KiB and a 64th of the store for each organization, which gets no new one beyond", "24 hours after the last connection"},
	{"retained MQTT messages", "$MQTT_rmsgs", nil, "one for each topic of events, with the messages for absent clients a 32nd of the store", "by the next message, and with the program"},
	{"MQTT messages for absent clients", "$MQTT_msgs", nil, "the messages of a day, with the retained ones a 32nd of the store; the oldest go first", "when they are sent, at most 24 hours"},
}

// TestRetentions_Complete checks that each kind of entity has one row, and that the rows of
// each stream state its age and its number of messages.
func TestRetentions_Complete(t *testing.T) {
	var kinds []storage.Kind
	text := map[string]string{}
	for _, r := range retentions {
		kinds = append(kinds, r.Kinds...)
		text[r.Stream] += r.Bound + " " + r.Removed + "\n"
		if r.Records == "" || r.Bound == "" || r.Removed == "" || (r.Stream != "GRIDHOOK_STATE" && r.Kinds != nil) {
			t.Errorf("row %+v", r)
		}
	}
	slices.Sort(kinds)
	if want := slices.Sorted(slices.Values(storage.Kinds())); !slices.Equal(kinds, want) {
		t.Errorf("the rows have the kinds\n%v, want\n%v", kinds, want)
	}
	ages := map[time.Duration]string{1000 * time.Hour: "`receipts-age`", 1001 * time.Hour: "`triggers-age`", 1002 * time.Hour: "`audit-age`"}
	for _, c := range jetstream.Configs(jetstream.Options{Replicas: 1, ReceiptsAge: 1000 * time.Hour, TriggersAge: 1001 * time.Hour, AuditAge: 1002 * time.Hour}) {
		var says []string
		if c.MaxMsgs > 0 {
			says = append(says, thousands(c.MaxMsgs))
		}
		if age := c.MaxAge; age > 0 {
			stated := ages[age]
			if stated == "" && age%(24*time.Hour) == 0 {
				stated = fmt.Sprintf("%d days", age/(24*time.Hour))
			} else if stated == "" {
				stated = fmt.Sprintf("%d hours", age/time.Hour)
			}
			says = append(says, stated)
		}
		if text[c.Name] == "" {
			t.Errorf("%s has no row", c.Name)
		}
		for _, want := range says {
			if !strings.Contains(text[c.Name], want) {
				t.Errorf("the rows of %s do not say %q:\n%s", c.Name, want, text[c.Name])
			}
		}
		delete(text, c.Name)
	}
	maps.DeleteFunc(text, func(stream, _ string) bool { return strings.HasPrefix(stream, "$MQTT_") }) // nats-server makes these
	if len(text) > 0 {
		t.Errorf("rows of unknown streams: %v", text)
	}
}

// thousands formats a number up to a billion.
func thousands(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// TestRetentions_InGuide checks that the operator's guide has the same table.
func TestRetentions_InGuide(t *testing.T) {
	want := "| record | stream | bound | removed |\n|---|---|---|---|\n"
	for _, r := range retentions {
		want += fmt.Sprintf("| %s | `%s` | %s | %s |\n", r.Records, r.Stream, r.Bound, r.Removed)
	}
	guide, err := os.ReadFile("../../../docs/operator-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "\n\n"+want+"\n") {
		t.Errorf("docs/operator-guide.md needs this table:\n%s", want)
	}
}

// TestLimits_InRetentions checks that the table of retentions names the setting of each
// limit, and no setting that does not exist.
func TestLimits_InRetentions(t *testing.T) {
	a := &App{Options: Options{Config: config.Default(config.Serve)}}
	for _, l := range a.limits() {
		named := slices.ContainsFunc(retentions, func(r retention) bool {
			return slices.Contains(r.Kinds, l.Kind) && strings.Contains(r.Bound, l.Setting)
		})
		if !named {
			t.Errorf("no row names the limit %q of %s", l.Setting, l.Kind)
		}
	}
	settings := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(settings, config.Serve)
	for _, r := range retentions {
		for _, name := range regexp.MustCompile("`([a-z]+-[a-z-]+)`").FindAllStringSubmatch(r.Bound+r.Removed, -1) {
			if settings.Lookup(name[1]) == nil {
				t.Errorf("%s: there is no setting %q", r.Records, name[1])
			}
		}
	}
}
