package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/storage"
)

// TestLimits_Stored checks that max-state limits the records of an organization.
func TestLimits_Stored(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.Limits.MaxState = 400 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	imported, err := operator.Import(t.Context(), strings.NewReader(`{"resource":"organization","id":"acme","name":"Acme"}
{"resource":"home","organizationId":"acme","id":"h1"}
{"resource":"home","organizationId":"acme","id":"h2"}
{"resource":"home","organizationId":"acme","id":"h3"}`))
	if err != nil || imported.Failed == 0 || imported.Failed == 3 || !strings.Contains(imported.Errors[0].Fields[0].Message, "max-state") {
		t.Errorf("imported %+v, %v", imported, err)
	}
}

// TestLimits_ShareOfStore checks that the records of one organization leave room in a small
// store.
func TestLimits_ShareOfStore(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.MaxStore = 4 << 20 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	lines := `{"resource":"organization","id":"acme","name":"Acme"}` + "\n"
	name := strings.Repeat("n", 200)
	for i := range 5000 { // the store takes 2,788
		lines += fmt.Sprintf(`{"resource":"home","organizationId":"acme","id":"h%d","name":%q}`+"\n", i, name)
	}
	imported, err := operator.Import(t.Context(), strings.NewReader(lines))
	if err != nil || imported.Failed == 0 || imported.Created < 500 || !strings.Contains(imported.Errors[0].Fields[0].Message, "max-state") {
		t.Errorf("imported %d, %d failed: %+v, %v", imported.Created, imported.Failed, imported.Errors[:min(1, len(imported.Errors))], err)
	}
	if _, err := operator.For("acme").Trigger(t.Context(), client.TriggerRequest{}); err != nil {
		t.Errorf("the trigger beside full records: %v", err)
	}
}

// TestLimits_Settings checks that the settings limit the homes and keys of an organization.
func TestLimits_Settings(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.Limits.MaxHomes, o.Limits.MaxKeys = 1, 1 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	imported, err := operator.Import(t.Context(), strings.NewReader(`{"resource":"organization","id":"acme","name":"Acme"}
{"resource":"home","organizationId":"acme","id":"h1"}
{"resource":"home","organizationId":"acme","id":"h2"}`))
	if err != nil || imported.Created != 2 || imported.Failed != 1 || !strings.Contains(imported.Errors[0].Fields[0].Message, "max-homes") {
		t.Errorf("imported %+v, %v", imported, err)
	}
	for i, want := range []string{"", "max-keys"} {
		_, err := operator.CreateKey(t.Context(), client.NewKey{OrganizationID: "acme", Scopes: []storage.Scope{storage.ScopeRead}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("key %d: %v", i+1, err)
		}
	}
}

// TestLimits_HistoryLeavesRoom checks that the history of one organization cannot fill the
// store: the trigger of another organization is still accepted.
func TestLimits_HistoryLeavesRoom(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.MaxStore, o.Limits.MaxWaiting = 16<<20, 0 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	lines := `{"resource":"organization","id":"greedy","name":"Greedy"}
{"resource":"organization","id":"other","name":"Other"}
`
	for i := range 4000 {
		lines += fmt.Sprintf(`{"resource":"home","organizationId":"greedy","id":"home-%060d"}`+"\n", i)
	}
	if imported, err := operator.Import(t.Context(), strings.NewReader(lines)); err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	var refused *client.Error
	for late := time.Now().Add(2 * time.Minute); refused == nil; <-time.After(10 * time.Millisecond) { // the ledger follows
		_, err := operator.For("greedy").Trigger(t.Context(), client.TriggerRequest{})
		if time.Now().After(late) || err != nil && !errors.As(err, &refused) {
			t.Fatalf("no limit is reached: %v", err)
		}
	}
	if !strings.Contains(refused.Error(), "max-history") {
		t.Errorf("the greedy organization is refused with %v", refused)
	}
	if _, err := operator.For("other").Trigger(t.Context(), client.TriggerRequest{}); err != nil {
		t.Errorf("the other organization's trigger: %v", err)
	}
}

// TestLimits_SmallStore checks that idempotency keys and feedback have their shares of a small
// store, and that other organizations have their own keys.
func TestLimits_SmallStore(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.MaxStore = 64 << 20 })
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	if imported, err := operator.Import(t.Context(), strings.NewReader(`{"resource":"organization","id":"greedy","name":"Greedy"}
{"resource":"organization","id":"other","name":"Other"}`)); err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	solar := func(org string, n int) (refused *client.Error) {
		_, err := operator.For(org).CreateSolar(t.Context(), client.Solar{HomeID: "none", SizeKw: 5, IdempotencyKey: fmt.Sprint(n)})
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		return refused
	}
	const keys = 64 << 20 / 128 / rest.KeyBytes
	for n := range keys {
		if refused := solar("greedy", n); refused.Status != http.StatusNotFound {
			t.Fatalf("key %d: %v", n, refused)
		}
	}
	if refused := solar("greedy", keys); refused.Status != http.StatusTooManyRequests || !strings.Contains(refused.Error(), "max-idempotency-keys") {
		t.Errorf("a key beyond the share: %v", refused)
	}
	if refused := solar("other", 0); refused.Status != http.StatusNotFound {
		t.Errorf("a key of the other organization: %v", refused)
	}
	const kept = 64 << 20 / 64 / (256 << 10)
	public := &client.Client{BaseURL: a.URL()}
	for range kept + 1 {
		if _, err := public.SubmitFeedback(t.Context(), storage.FeedbackForm{Type: "bug", Summary: "s", Message: "m"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if list, _, err := operator.Feedback(t.Context(), client.Page{}); err != nil || len(list) != kept {
		t.Errorf("%d submissions are stored, %v, want %d", len(list), err, kept)
	}
}

// TestLimits_FailingEndpoints checks that the outcomes of triggers that were accepted at the
// same moment cannot fill the store: the walks wait. Another organization's do not.
func TestLimits_FailingEndpoints(t *testing.T) {
	log := &logged{want: "history of the organization is too large", seen: make(chan struct{})}
	a := startWith(t, func(o *app.Options) {
		o.AllowPrivate, o.Limits.MaxHistory, o.Log = true, 64<<10, slog.New(slog.NewTextHandler(log, nil))
	})
	var requests atomic.Int64
	fails := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%5 > 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer fails.Close()
	works := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer works.Close()
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	lines := []string{
		`{"resource":"organization","id":"greedy","name":"Greedy"}`,
		`{"resource":"organization","id":"other","name":"Other"}`,
		`{"resource":"ratePlan","id":"plan","tariff":{"energyratestructure":[[{"rate":0.1}]]}}`,
		fmt.Sprintf(`{"resource":"webhookEndpoint","organizationId":"greedy","id":"ep","url":%q,"rateLimit":300,"retryPolicy":{"initialSeconds":3600,"multiplier":1,"maxSeconds":3600,"giveUpSeconds":86400,"disableAfterSeconds":0}}`, fails.URL),
		fmt.Sprintf(`{"resource":"webhookEndpoint","organizationId":"other","id":"ep","url":%q}`, works.URL),
		`{"resource":"home","organizationId":"other","id":"home","ratePlanId":"plan","zipcode":"60614"}`,
	}
	const homes, triggers = 2000, 3
	for i := range homes {
		lines = append(lines, fmt.Sprintf(`{"resource":"home","organizationId":"greedy","id":"home_%d","ratePlanId":"plan","zipcode":"60614"}`, i))
	}
	if imported, err := operator.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n"))); err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	start := storage.Time{Time: time.Now().UTC().Truncate(15 * time.Minute)}
	for range triggers { // windows that do not overlap, so none supersedes another
		end := storage.Time{Time: start.Add(time.Hour)}
		if _, err := operator.For("greedy").Trigger(t.Context(), client.TriggerRequest{StartTime: &start, EndTime: &end}); err != nil {
			t.Fatal(err)
		}
		start = end
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	select {
	case <-log.seen:
	case <-ctx.Done():
		t.Errorf("no walk waits after %d requests", requests.Load())
	}
	if n := requests.Load(); n >= triggers*homes {
		t.Errorf("all %d homes were walked", n)
	}
	deliver(t, operator.For("other"), 1)
}

// TestLimits_LargeRetries checks that retries count with the bytes that they take. A retry
// carries the prices, and each home here has its own.
func TestLimits_LargeRetries(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.AllowPrivate = true })
	fails := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer fails.Close()
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	lines := []string{
		`{"resource":"organization","id":"acme","name":"Acme"}`,
		fmt.Sprintf(`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep","url":%q,"retryPolicy":{"initialSeconds":3600,"multiplier":1,"maxSeconds":3600,"giveUpSeconds":86400,"disableAfterSeconds":0}}`, fails.URL),
	}
	const homes = 8
	for i := range homes {
		lines = append(lines, fmt.Sprintf(`{"resource":"ratePlan","organizationId":"acme","id":"plan_%d","tariff":{"energyratestructure":[%s],"energyweekdayschedule":%s,"energyweekendschedule":%[3]s}}`, i,
			repeated(24, func(hour int) string { return fmt.Sprintf(`[{"rate":0.%d%02d}]`, i+1, hour) }),
			"["+repeated(12, func(int) string { return "[" + repeated(24, strconv.Itoa) + "]" })+"]"))
		lines = append(lines, fmt.Sprintf(`{"resource":"home","organizationId":"acme","id":"home_%d","ratePlanId":"plan_%[1]d","zipcode":"60614"}`, i))
	}
	if imported, err := operator.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n"))); err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	start := storage.Time{Time: time.Now().UTC().Truncate(15 * time.Minute)}
	end := storage.Time{Time: start.AddDate(0, 0, 31)}
	acme := operator.For("acme")
	if _, err := acme.Trigger(t.Context(), client.TriggerRequest{StartTime: &start, EndTime: &end}); err != nil {
		t.Fatal(err)
	}
	const least = homes * 31 * 24 * 20 // bytes of a price in each hour
	var used int64
	for late := time.Now().Add(2 * time.Minute); used < least; <-time.After(10 * time.Millisecond) { // the ledger follows
		usage, err := client.Call[wire.OrganizationUsage](t.Context(), operator, "/v1/admin/organizations/acme/usage", struct{}{})
		if err != nil || time.Now().After(late) {
			t.Fatalf("the history takes %d bytes, want %d: %v", used, least, err)
		}
		used = usage.HistoryBytes
	}
}

// repeated joins a number of JSON values.
func repeated(n int, value func(int) string) string {
	values := make([]string, n)
	for i := range values {
		values[i] = value(i)
	}
	return strings.Join(values, ",")
}

// logged is a log that waits for a text.
type logged struct {
	want string
	once sync.Once
	seen chan struct{}
}

// Write reads a line of the log.
func (l *logged) Write(line []byte) (int, error) {
	if strings.Contains(string(line), l.want) {
		l.once.Do(func() { close(l.seen) })
	}
	return len(line), nil
}

// TestLimits_Connections checks that max-connections limits the connections to the API and to the
// MQTT listener, and none to the admin listener.
func TestLimits_Connections(t *testing.T) {
	a := startWith(t, func(o *app.Options) {
		o.Limits.MaxConnections, o.OpenADR.Enabled, o.MQTT = 1, true, "127.0.0.1:0"
	})
	dial := func(url string) net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	dial(a.AdminURL())
	for listener, address := range map[string]string{"public": a.URL(), "mqtt": a.MQTTAddress()} {
		dial(address)
		if n, err := dial(address).Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: the second connection reads %d bytes, want its end", listener, n)
		}
		if !shows(t, a, `gridhook_connections_refused_total{listener="`+listener+`"} 1`) {
			t.Errorf("%s: the metrics lack the refused connection", listener)
		}
	}
}
