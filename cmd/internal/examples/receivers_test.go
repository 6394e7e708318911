package examples

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

const (
	secret = "whsec_bWluZW1pbmVtaW5lbWluZW1pbmVtaW5lbWluZTE="
	other  = "whsec_dGhlaXJzdGhlaXJzdGhlaXJzdGhlaXJzdGhlaXI="
)

func TestReceivers_Languages(t *testing.T) {
	dir := t.TempDir()
	list := programs(t, dir)
	w := newWorld(t, dir)
	for _, p := range list {
		t.Run(p.language, func(t *testing.T) {
			c := w.organization(t, strings.ToLower(p.language))
			r := &receiver{t: t, hooks: p.start(t, secret)}
			r.takesFromGridhook(c)
			r.judges()
		})
	}
}

// TestReceivers_NoSecret checks that no receiver starts with an empty key, with which
// everyone could sign.
func TestReceivers_NoSecret(t *testing.T) {
	for _, p := range programs(t, t.TempDir()) {
		for _, secret := range []string{"", "whsec_"} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			command := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
			command.Env = append(os.Environ(), "ADDRESS=127.0.0.1:0", "GRIDHOOK_WEBHOOK_SECRET="+secret)
			out, err := command.CombinedOutput()
			if cancel(); err == nil || !strings.Contains(string(out), "set GRIDHOOK_WEBHOOK_SECRET") {
				t.Errorf("%s with the secret %q: %v, %s", p.language, secret, err, out)
			}
		}
	}
}

// receiver is a running receiver.
type receiver struct {
	t     *testing.T
	hooks string
}

// signals returns the signals that the receiver stores.
func (r *receiver) signals() map[string]held {
	r.t.Helper()
	response, err := http.Get(strings.TrimSuffix(r.hooks, "/hooks") + "/signals")
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	var signals map[string]held
	if err := json.NewDecoder(response.Body).Decode(&signals); err != nil {
		r.t.Fatal(err)
	}
	return signals
}

// takesFromGridhook delivers what a partner gets: a test, each home's signal, newer
// signals, some signed with the old and the new secret, and compressed batches.
func (r *receiver) takesFromGridhook(c *client.Client) {
	r.t.Helper()
	endpoint, err := c.CreateEndpoint(r.t.Context(), client.NewEndpoint{EndpointFields: client.EndpointFields{URL: &r.hooks}, Secret: secret})
	if err != nil {
		r.t.Fatal(err)
	}
	if d, err := c.TestEndpoint(r.t.Context(), endpoint.ID); err != nil || d.Outcome != events.OutcomeDelivered {
		r.t.Fatalf("the test: %+v, %v", d, err)
	}
	if n := len(r.signals()); n != 0 {
		r.t.Errorf("a test stored %d signals", n)
	}
	trigger(r.t, c)
	first := sequence(r.t, r.signals())
	if _, err := c.RotateSecret(r.t.Context(), endpoint.ID); err != nil {
		r.t.Fatal(err)
	}
	trigger(r.t, c)
	second := sequence(r.t, r.signals())
	if second <= first {
		r.t.Errorf("after signal %d the receiver has %d", first, second)
	}
	batches, compressed := homes/2, storage.CompressionGzip
	if _, err := c.UpdateEndpoint(r.t.Context(), endpoint.ID, client.EndpointFields{BatchSize: &batches, Compression: &compressed}); err != nil {
		r.t.Fatal(err)
	}
	trigger(r.t, c)
	if third := sequence(r.t, r.signals()); third <= second {
		r.t.Errorf("after signal %d the receiver has %d in compressed batches", second, third)
	}
}

// message is a webhook that the test builds.
type message struct {
	id, body string
	json     string // for the body, if it is compressed
	at       time.Time
	secrets  []string
}

func signal(id string, sequence uint64) message {
	return message{id: id, body: "{" + fields(sequence) + "}", at: time.Now(), secrets: []string{secret}}
}

// fields returns the JSON of the first home's signal, without its braces.
func fields(sequence uint64) string {
	return fmt.Sprintf(`"type":"price_signal.updated","data":{"homeId":%q,"sequence":%d}`, homeID(0), sequence)
}

// batch returns a batch of the first home's signals, with their own identifiers and
// numbers.
func batch(id string, sequences ...uint64) message {
	m, items := signal(id, 0), []string{}
	for _, s := range sequences {
		items = append(items, fmt.Sprintf(`{"webhookId":"%s_%d",%s}`, id, s, fields(s)))
	}
	m.body = `{"type":"price_signal.batch","data":[` + strings.Join(items, ",") + "]}"
	return m
}

// compressed returns a message as an endpoint with compression gets it.
func compressed(t *testing.T, m message) message {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(m.body)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m.json, m.body = m.body, b.String()
	return m
}

// post sends a message after change has modified it.
func (r *receiver) post(m message, change func(*http.Request)) int {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.hooks, strings.NewReader(m.body))
	if err != nil {
		r.t.Fatal(err)
	}
	var signatures []string
	for _, s := range m.secrets {
		w, err := standardwebhooks.NewWebhook(s)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, text := range []string{m.body, m.json} {
			signature, err := w.Sign(m.id, m.at, []byte(text))
			if err != nil {
				r.t.Fatal(err)
			}
			signatures = append(signatures, signature)
		}
	}
	request.Header.Set("webhook-id", m.id)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(m.at.Unix(), 10))
	request.Header.Set("webhook-signature", strings.Join(signatures, " "))
	if change != nil {
		change(request)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// judges sends messages that the receiver must accept, ignore and refuse.
func (r *receiver) judges() {
	r.t.Helper()
	now := r.signals()[homeID(0)].Sequence
	late, early := signal("msg_late", now+50), signal("msg_early", now+50)
	late.at, early.at = late.at.Add(-310*time.Second), early.at.Add(600*time.Second)
	foreign := signal("msg_foreign", now+50)
	foreign.secrets = []string{other}
	both := signal("msg_both", now+3)
	both.secrets = []string{other, secret}
	unknown, text := signal("msg_unknown", now+60), signal("msg_text", now+60)
	unknown.body = strings.Replace(unknown.body, "price_signal.updated", "something.new", 1)
	text.body = "not JSON"
	huge := signal("msg_huge", now+60)
	huge.body = strings.Repeat(" ", 9<<20) + huge.body
	cut := compressed(r.t, signal("msg_cut", now+60))
	cut.json, cut.body = cut.body[:20], cut.body[:20]
	without := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	tests := []struct {
		name   string
		m      message
		change func(*http.Request)
		status int
		holds  uint64 // then
	}{
		{"310 s old", late, nil, 401, now},
		{"600 s ahead", early, nil, 401, now},
		{"another's secret", foreign, nil, 401, now},
		{"another id", signal("msg_a", now+50), set("webhook-id", "msg_b"), 401, now},
		{"no id", signal("msg_a", now+50), without("webhook-id"), 401, now},
		{"no signature", signal("msg_a", now+50), without("webhook-signature"), 401, now},
		{"a signature of another kind", signal("msg_a", now+50), set("webhook-signature", "v1a,AAAA"), 401, now},
		{"no time", signal("msg_a", now+50), without("webhook-timestamp"), 401, now},
		{"a time in words", signal("msg_a", now+50), set("webhook-timestamp", "now"), 401, now},
		{"a refused message does not count as a repeat", signal("msg_a", now+1), nil, 204, now + 1},
		{"newer", signal("msg_newer", now+2), nil, 204, now + 2},
		{"older", signal("msg_older", now), nil, 204, now + 2},
		{"the same id again", signal("msg_newer", now+40), nil, 204, now + 2},
		{"while a secret is rotated", both, nil, 204, now + 3},
		{"an event to come", unknown, nil, 204, now + 3},
		{"no JSON, though signed", text, nil, 400, now + 3},
		{"compressed", compressed(r.t, signal("msg_gzip", now+4)), nil, 204, now + 4},
		{"compressed, too large", compressed(r.t, huge), nil, 400, now + 4},
		{"compressed, and broken off", cut, nil, 400, now + 4},
		{"a batch", batch("bat_a", now+6, now+5), nil, 204, now + 6},
		{"a message of it, on its own", signal(fmt.Sprintf("bat_a_%d", now+6), now+40), nil, 204, now + 6},
		{"the same batch again", batch("bat_a", now+6, now+7), nil, 204, now + 7},
		{"a compressed batch", compressed(r.t, batch("bat_b", now+8)), nil, 204, now + 8},
	}
	for _, test := range tests {
		if got := r.post(test.m, test.change); got != test.status {
			r.t.Errorf("%s: response %d, want %d", test.name, got, test.status)
		}
		if got := r.signals()[homeID(0)].Sequence; got != test.holds {
			r.t.Errorf("%s: it stores signal %d, want %d", test.name, got, test.holds)
		}
	}
}
