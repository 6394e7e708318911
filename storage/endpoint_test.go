package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

func validEndpoint() storage.WebhookEndpoint {
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.URL = "ep", "https://example.com/hooks"
	return e
}

func TestWebhookEndpoint_Check(t *testing.T) {
	type endpoint = storage.WebhookEndpoint
	url := func(s string) func(*endpoint) { return func(e *endpoint) { e.URL = s } }
	check(t, validEndpoint, slices.Concat(
		ids("id", func(e *endpoint, s string) { e.ID = s }),
		[]tweak[endpoint]{
			{"the shortest first pause", func(e *endpoint) { e.RetryPolicy.InitialSeconds = 1 }, ""},
			{"the longest first pause", func(e *endpoint) { e.RetryPolicy.InitialSeconds, e.RetryPolicy.MaxSeconds = 3600, 3600 }, ""},
			{"a longest delay below the first", func(e *endpoint) { e.RetryPolicy.MaxSeconds = 4.9 }, "retryPolicy.maxSeconds"},
			{"never disabled", func(e *endpoint) { e.RetryPolicy.DisableAfterSeconds = 0 }, ""},
			{"disabled too soon", func(e *endpoint) { e.RetryPolicy.DisableAfterSeconds = 59 }, "retryPolicy.disableAfterSeconds"},
			{"a mode", func(e *endpoint) { e.DeliveryMode = storage.DeliverOnChange }, ""},
			{"no mode", func(e *endpoint) { e.DeliveryMode = "" }, "deliveryMode"},
			{"a least change", func(e *endpoint) { e.DeliveryMode, e.MinPriceChange = storage.DeliverOnChange, 0.01 }, ""},
			{"a least change below the precision", func(e *endpoint) { e.DeliveryMode, e.MinPriceChange = storage.DeliverOnChange, 1e-7 }, "minPriceChange"},
			{"a least change of every signal", func(e *endpoint) { e.MinPriceChange = 0.01 }, "minPriceChange"},
			{"HTTP/2", func(e *endpoint) { e.HTTPVersion = storage.HTTPVersion2 }, ""},
			{"HTTP/1.1", func(e *endpoint) { e.HTTPVersion = storage.HTTPVersion1 }, ""},
			{"either version of HTTP", func(e *endpoint) { e.HTTPVersion = storage.HTTPVersionAuto }, ""},
			{"HTTP/2 without TLS", func(e *endpoint) { e.HTTPVersion, e.URL = storage.HTTPVersion2, "http://example.com" }, "httpVersion"},
			{"event types", func(e *endpoint) { e.EventTypes = storage.EventTypes() }, ""},

			{"no url", url(""), "url"},
			{"http", url("http://example.com"), ""}, // the guard decides
			{"the longest url", url("https://example.com/" + strings.Repeat("x", 2028)), ""},
			{"a relative url", url("/hooks"), "url"},
			{"no host", url("https:///hooks"), "url"},
			{"a port alone", url("https://:443/"), "url"},
			{"an opaque url", url("https:example.com"), "url"},
			{"another scheme", url("ftp://example.com"), "url"},
			{"a password", url("https://u:p@example.com"), "url"},
			{"a user", url("https://u@example.com"), "url"},
			{"a fragment", url("https://example.com/#x"), "url"},
			{"a line break", url("https://example.com/\r\nX: y"), "url"},
			{"a broken escape", url("https://example.com/%zz"), "url"},
		},
	))
}

func TestClientCertificate_Scheme(t *testing.T) {
	for url, want := range map[string]bool{
		"https://example.com/": true, "HTTPS://example.com/": true, "http://example.com/": false, storage.RelayURL: false,
	} {
		e := validEndpoint()
		e.URL, e.ClientCertificate = url, &storage.ClientCertificate{}
		invalid, _ := errors.AsType[*storage.InvalidError](storage.Validate(&e))
		refused := slices.ContainsFunc(invalid.Fields, func(f storage.FieldError) bool { return f.Field == "clientCertificate" })
		if refused == want {
			t.Errorf("a client certificate with the URL %s: refused %v", url, refused)
		}
	}
}

func TestWebhookEndpoint_Headers(t *testing.T) {
	headers := func(pairs ...string) func(*storage.WebhookEndpoint) {
		return func(e *storage.WebhookEndpoint) {
			for i := 0; i < len(pairs); i += 2 {
				e.Headers[pairs[i]] = pairs[i+1]
			}
		}
	}
	many := func(n int) func(*storage.WebhookEndpoint) {
		return func(e *storage.WebhookEndpoint) {
			for i := range n {
				e.Headers[fmt.Sprintf("X-%d", i)] = "v"
			}
		}
	}
	tweaks := []tweak[storage.WebhookEndpoint]{
		{"one of theirs", headers("Authorization", "Bearer x", "x-mine", ""), ""},
		{"as many as there may be", many(20), ""},
		{"the longest", headers(strings.Repeat("x", 128), strings.Repeat("v", 1024)), ""},
		{"too long a name", headers(strings.Repeat("x", 129), "v"), "headers"},
		{"too long a value", headers("X", strings.Repeat("v", 1025)), "headers.X"},
		{"no name", headers("", "v"), "headers"},
		{"a space in the name", headers("X Y", "v"), "headers"},
		{"a line break in the name", headers("X\r\nY", "v"), "headers"},
		{"a line break", headers("X", "a\r\nEvil: b"), "headers.X"},
		{"a line feed", headers("X", "a\nb"), "headers.X"},
		{"NUL", headers("X", "a\x00b"), "headers.X"},
		{"values and names", headers("B", "\n", "A A", "v", "Host", "v", "B B", "v"), "headers.B headers.Host headers"},
		{"several, in a fixed order", headers("B", "\n", "A", "\n", "C", "\n"), "headers.A headers.B headers.C"},
	}
	for _, name := range []string{
		"webhook-id", "Webhook-Timestamp", "WEBHOOK-SIGNATURE", "Content-Type", "Content-Length", "Host",
		"Transfer-Encoding", "connection", "User-Agent", "Expect", "Upgrade", "Proxy-Authorization", "proxy-x",
	} {
		tweaks = append(tweaks, tweak[storage.WebhookEndpoint]{"one of ours: " + name, headers(name, "v"), "headers." + name})
	}
	check(t, validEndpoint, tweaks)
}

func TestWebhookEndpoint_Wants(t *testing.T) {
	e := validEndpoint()
	if !e.Wants(storage.EventPriceSignalUpdated) || !e.Wants(storage.EventWebhookTest) {
		t.Error("an endpoint without a list does not want every event")
	}
	e.EventTypes = []string{storage.EventTriggerCompleted}
	if e.Wants(storage.EventPriceSignalUpdated) || !e.Wants(storage.EventTriggerCompleted) {
		t.Error("an endpoint does not want exactly its listed events")
	}
	e.Enabled = false
	if e.Wants(storage.EventTriggerCompleted) {
		t.Error("a disabled endpoint wants an event")
	}
}

// A home must be in both lists. An empty list selects all.
func TestWebhookEndpoint_Selects(t *testing.T) {
	for _, tt := range []struct {
		homes, plans []string
		want         bool
	}{
		{nil, nil, true},
		{[]string{"other", "home"}, nil, true},
		{[]string{"other"}, nil, false},
		{nil, []string{"plan"}, true},
		{nil, []string{"other"}, false},
		{[]string{"home"}, []string{"plan"}, true},
		{[]string{"home"}, []string{"other"}, false},
		{[]string{"other"}, []string{"plan"}, false},
	} {
		e := storage.WebhookEndpoint{EndpointSettings: storage.EndpointSettings{HomeIDs: tt.homes, RatePlanIDs: tt.plans}}
		if got := e.Selects("home", "plan"); got != tt.want {
			t.Errorf("an endpoint with homes %v and plans %v selects the home: %v, want %v", tt.homes, tt.plans, got, tt.want)
		}
	}
}
