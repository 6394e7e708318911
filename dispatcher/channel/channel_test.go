package channel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/dispatcher/channel/smtptest"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
	"github.com/gridhook/gridhook/storage/vault"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// loopback is an address with a free port.
const loopback = "127.0.0.1:0"

// mailOf returns the options that send through a mailbox.
func mailOf(b *smtptest.Mailbox, scheme, query string, user *url.Userinfo) channel.Mail {
	return channel.Mail{Server: &url.URL{Scheme: scheme, Host: b.Address, User: user, RawQuery: query}, From: "gridhook@operator.example", Roots: b.Roots}
}

// bench is a sender with a vault.
type bench struct {
	t      *testing.T
	vault  *vault.Vault
	sender *channel.Sender
}

func newBench(t *testing.T, g send.Guard, m channel.Mail) *bench {
	t.Helper()
	store, _, _ := storagetest.NewStore(func() time.Time { return now })
	v, err := vault.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	http := send.New(send.Options{Guard: g, IdlePerDestination: 1})
	t.Cleanup(http.Close)
	return &bench{t, v, channel.New(v, http, m)}
}

// send sends a notice to a sealed channel.
func (b *bench) send(kind storage.ChannelKind, address string, n events.Notice) error {
	b.t.Helper()
	c := storage.Channel{ID: "ch_1", ChannelSettings: storage.ChannelSettings{Kind: kind, Address: address}, Base: storage.Base{OrganizationID: "acme"}}
	if err := b.vault.SealChannel(&c, &storage.Channel{}); err != nil {
		b.t.Fatal(err)
	}
	return b.sender.Send(b.t.Context(), c, &n, now)
}

// sample is a notice of an event with texts of its message.
type sample struct {
	notice events.Notice
	title  string
	text   []string
}

// at returns the time of that many hours after now.
func at(hours int) storage.Time {
	return storage.Time{Time: now.Add(time.Duration(hours) * time.Hour)}
}

// endpoint returns an endpoint that is disabled after a number of hours of failures.
func endpoint(disabledAfter int) *storage.WebhookEndpoint {
	e := storage.NewWebhookEndpoint("acme")
	e.ID, e.URL, e.RetryPolicy.DisableAfterSeconds = "ep_1", "https://partner.example/hooks", float64(disabledAfter)*3600
	return &e
}

// notices has a notice of each event.
func notices(t *testing.T) map[string]sample {
	t.Helper()
	failing := events.Health{
		State: events.HealthFailing, ConsecutiveFailures: 31, FailingSince: at(-60), LastFailureAt: at(0),
		LastFailure: "the endpoint responded 503 Service Unavailable",
	}
	recovered := events.Health{State: events.HealthGood, LastOutage: &events.Outage{Since: at(-60), Until: at(0), Failures: 31}}
	trigger := events.Progress{
		TriggerID: "trg_1", OrganizationID: "acme", CompletedAt: at(0), Outcomes: map[events.Outcome]int{"DELIVERED": 80, "FAILED": 15, "EXPIRED": 5},
	}
	gone := endpoint(120)
	gone.Disable(storage.DisabledGone, "it responded 410 Gone", now)
	all := map[string]sample{
		"failing": {title: "Endpoint ep_1 of acme is failing", text: []string{
			"https://partner.example/hooks", "2026-06-29 00:00:00 UTC", "31 in a row", "503", "disables the endpoint at 2026-07-04 00:00:00 UTC",
		}},
		"never disabled": {title: "Endpoint ep_1 of acme is failing", text: []string{"does not disable"}},
		"recovered":      {title: "Endpoint ep_1 of acme has recovered", text: []string{"succeeded at 2026-07-01 12:00:00 UTC", "since 2026-06-29 00:00:00 UTC"}},
		"disabled":       {title: "Endpoint ep_1 of acme is disabled", text: []string{"it responded 410 Gone", "enabled again"}},
		"failures":       {title: "A trigger of acme ended with failures", text: []string{"20 of 100 deliveries of trigger trg_1", "failed: 15, expired: 5"}},
		"quota":          {title: "Organization acme is near its quota max-waiting", text: []string{"1700 of 2000", "429"}},
	}
	made := map[string]func() (events.Notice, bool){
		"failing":        func() (events.Notice, bool) { return events.FailingNotice(endpoint(120), &failing) },
		"never disabled": func() (events.Notice, bool) { return events.FailingNotice(endpoint(0), &failing) },
		"recovered":      func() (events.Notice, bool) { return events.RecoveredNotice(endpoint(120), &recovered) },
		"failures":       func() (events.Notice, bool) { return events.FailuresNotice(&trigger, 0.1) },
		"disabled":       func() (events.Notice, bool) { n, ok, err := events.DisabledNotice(gone); return n, ok && err == nil },
		"quota": func() (events.Notice, bool) {
			list := events.QuotaNotices("acme", events.Quota{Waiting: 2000}, events.Usage{Waiting: 1700}, 0, now)
			return list[0], len(list) == 1
		},
	}
	for name, s := range all {
		notice, ok := made[name]()
		if !ok {
			t.Fatalf("%s has no notice", name)
		}
		s.notice = notice
		all[name] = s
	}
	return all
}

// posted is a received request.
type posted struct {
	path, contentType string
	body              []byte
}

// receiver is an HTTP server that responds with a status.
func receiver(t *testing.T, status int) (address string, last func() posted) {
	t.Helper()
	got := make(chan posted, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- posted{r.URL.Path, r.Header.Get("Content-Type"), body}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() posted {
		select {
		case p := <-got:
			return p
		default:
			t.Error("nothing arrived")
			return posted{}
		}
	}
}

// TestSend_Chat posts each event to a Slack and a Teams receiver.
func TestSend_Chat(t *testing.T) {
	address, last := receiver(t, http.StatusOK)
	b := newBench(t, send.Guard{AllowPrivate: true}, channel.Mail{})
	for name, tt := range notices(t) {
		for _, kind := range []storage.ChannelKind{storage.ChannelSlack, storage.ChannelTeams} {
			if err := b.send(kind, address+"/services/T0/secret", tt.notice); err != nil {
				t.Fatalf("%s to %s: %v", name, kind, err)
			}
			p := last()
			var slack struct{ Text string }
			var teams struct {
				Type        string
				Attachments []struct {
					ContentType string
					Content     struct {
						Type, Version string
						Body          []struct{ Type, Text string }
					}
				}
			}
			var text string
			if kind == storage.ChannelSlack {
				must(t, json.Unmarshal(p.body, &slack))
				text = slack.Text
			} else {
				must(t, json.Unmarshal(p.body, &teams))
				card := teams.Attachments[0]
				if teams.Type != "message" || card.ContentType != "application/vnd.microsoft.card.adaptive" || card.Content.Type != "AdaptiveCard" || card.Content.Body[0].Type != "TextBlock" {
					t.Errorf("%s is no card: %s", name, p.body)
				}
				text = strings.ReplaceAll(card.Content.Body[0].Text+"\n"+card.Content.Body[1].Text, `\`, "")
			}
			for _, want := range append(tt.text, tt.title) {
				if !strings.Contains(text, want) {
					t.Errorf("%s to %s is %q without %q", name, kind, text, want)
				}
			}
			if p.path != "/services/T0/secret" || p.contentType != "application/json" {
				t.Errorf("%s to %s has the path %s and the type %s", name, kind, p.path, p.contentType)
			}
		}
	}
}

// TestSend_ChatMarkup escapes markup in the words of a partner.
func TestSend_ChatMarkup(t *testing.T) {
	address, last := receiver(t, http.StatusOK)
	b := newBench(t, send.Guard{AllowPrivate: true}, channel.Mail{})
	e := endpoint(120)
	e.URL = "https://x.example/<!channel>&[here](https://evil.example)"
	e.Disable(storage.DisabledGone, "it responded 410 Gone", now)
	hostile, _, err := events.DisabledNotice(e)
	must(t, err)
	for kind, banned := range map[storage.ChannelKind]string{storage.ChannelSlack: "<!channel>", storage.ChannelTeams: `"[here]`} {
		must(t, b.send(kind, address, hostile))
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		var body any
		must(t, json.Unmarshal(last().body, &body))
		must(t, encoder.Encode(body))
		if strings.Contains(text.String(), banned) || strings.Contains(text.String(), "&[here](") {
			t.Errorf("%s gets %s", kind, text.String())
		}
	}
}

// TestSend_Alertmanager posts alerts. The notices of one endpoint have the same labels,
// and the recovery ends the alert.
func TestSend_Alertmanager(t *testing.T) {
	address, last := receiver(t, http.StatusOK)
	b := newBench(t, send.Guard{AllowPrivate: true}, channel.Mail{})
	type alert struct {
		Labels, Annotations map[string]string
		StartsAt, EndsAt    time.Time
	}
	alerts := map[string]alert{}
	for name, tt := range notices(t) {
		must(t, b.send(storage.ChannelAlertmanager, map[bool]string{true: address, false: address + "/api/v2/alerts"}[name == "quota"], tt.notice))
		p := last()
		var list []alert
		if err := json.Unmarshal(p.body, &list); err != nil || len(list) != 1 || p.path != "/api/v2/alerts" {
			t.Fatalf("%s posts %s to %s", name, p.body, p.path)
		}
		a := list[0]
		alerts[name] = a
		if a.Labels["alertname"] == "" || a.Labels["organization"] != "acme" || a.Annotations["summary"] != tt.title {
			t.Errorf("%s is the alert %+v", name, a)
		}
		if firing := a.EndsAt.After(now); firing != (name != "recovered") || !a.StartsAt.Before(a.EndsAt) {
			t.Errorf("%s lasts from %s to %s", name, a.StartsAt, a.EndsAt)
		}
	}
	if alerts["failing"].Labels["object"] == "" {
		t.Error("the alerts of two endpoints have the same labels, and replace each other")
	}
	for _, name := range []string{"disabled", "recovered"} {
		for label, value := range alerts["failing"].Labels {
			if alerts[name].Labels[label] != value || len(alerts[name].Labels) != len(alerts["failing"].Labels) {
				t.Errorf("the labels of %s are %v", name, alerts[name].Labels)
			}
		}
	}
}

// TestSend_Email sends each event through a real SMTP server, with STARTTLS, with TLS from
// the start and without TLS.
func TestSend_Email(t *testing.T) {
	user := url.UserPassword(smtptest.User, smtptest.Password)
	for name, tt := range map[string]struct {
		security      smtptest.Security
		scheme, query string
		user          *url.Userinfo
	}{
		"STARTTLS":           {smtptest.StartTLS, "smtp", "", user},
		"TLS from the start": {smtptest.FromStart, "smtps", "", user},
		"no TLS":             {smtptest.NoTLS, "smtp", "tls=none", nil},
	} {
		t.Run(name, func(t *testing.T) {
			box := smtptest.Listen(t, loopback, tt.security)
			b := newBench(t, send.Guard{}, mailOf(box, tt.scheme, tt.query, tt.user))
			for name, n := range notices(t) {
				if err := b.send(storage.ChannelEmail, "ops@acme.example", n.notice); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got := box.Emails()
				e := got[len(got)-1]
				m, err := mail.ReadMessage(strings.NewReader(e.Text))
				must(t, err)
				body, _ := io.ReadAll(m.Body)
				text := strings.ReplaceAll(strings.ReplaceAll(string(body), "=\r\n", ""), "=3D", "=")
				if _, err := m.Header.Date(); err != nil {
					t.Errorf("%s has no time: %v", name, err)
				}
				if e.From != "gridhook@operator.example" || e.To != "ops@acme.example" || m.Header.Get("Subject") != "[Gridhook] "+n.title || m.Header.Get("Auto-Submitted") != "auto-generated" || !strings.Contains(m.Header.Get("Message-Id"), n.notice.MessageID("ch_1")) {
					t.Errorf("%s: %+v", name, e)
				}
				for _, want := range n.text {
					if !strings.Contains(text, want) {
						t.Errorf("%s is %q without %q", name, text, want)
					}
				}
			}
			if got := box.Emails(); tt.user != nil && got[0].User != smtptest.User {
				t.Errorf("the server knows the user %q", got[0].User)
			}
		})
	}
}

// cut is a connection that ends instead of sending a command.
type cut struct {
	net.Conn
	command string
}

func (c cut) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), c.command) {
		_ = c.Close()
	}
	return c.Conn.Write(b)
}

// TestSend_EmailAccepted checks that an email counts as sent once the server has accepted it,
// also if the connection then ends. A repetition would be another email to people.
func TestSend_EmailAccepted(t *testing.T) {
	for command, sent := range map[string]int{"DATA": 0, "RSET": 1, "QUIT": 1} {
		box := smtptest.Listen(t, loopback, smtptest.NoTLS)
		m := mailOf(box, "smtp", "tls=none", nil)
		m.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return cut{conn, command}, err
		}
		err := newBench(t, send.Guard{}, m).send(storage.ChannelEmail, "ops@acme.example", notices(t)["quota"].notice)
		if got := len(box.Emails()); got != sent || (err == nil) != (sent == 1) {
			t.Errorf("a connection that ends before %s: %d emails, %v", command, got, err)
		}
	}
}

// TestSend_EmailRefused returns an error without the password.
func TestSend_EmailRefused(t *testing.T) {
	box, plain := smtptest.Listen(t, loopback, smtptest.StartTLS), smtptest.Listen(t, loopback, smtptest.NoTLS)
	user, wrong := url.UserPassword(smtptest.User, smtptest.Password), url.UserPassword(smtptest.User, "wr0ng-password")
	untrusted := mailOf(box, "smtp", "", user)
	untrusted.Roots = nil
	dead := mailOf(box, "smtp", "", user)
	dead.Server.Host = "127.0.0.1:1"
	for name, m := range map[string]channel.Mail{
		"wrong password": mailOf(box, "smtp", "", wrong), "a server without STARTTLS": mailOf(plain, "smtp", "", user),
		"an untrusted certificate": untrusted, "no server": {}, "a dead server": dead,
	} {
		b := newBench(t, send.Guard{}, m)
		err := b.send(storage.ChannelEmail, "ops@acme.example", notices(t)["quota"].notice)
		if err == nil || err.Error() == "" || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), smtptest.Password) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := append(box.Emails(), plain.Emails()...); len(got) != 0 {
		t.Errorf("received %+v", got)
	}
}

// TestSend_Guard refuses a destination on the loopback, in a sealed address too.
func TestSend_Guard(t *testing.T) {
	address, _ := receiver(t, http.StatusOK)
	b := newBench(t, send.Guard{}, channel.Mail{})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	for _, kind := range storage.ChannelKinds()[1:] {
		err := b.send(kind, "http://127.0.0.1:"+port+"/secret", notices(t)["quota"].notice)
		if err == nil || !strings.Contains(err.Error(), "not allowed") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestSend_Refused returns the receiver's status.
func TestSend_Refused(t *testing.T) {
	address, _ := receiver(t, http.StatusNotFound)
	b := newBench(t, send.Guard{AllowPrivate: true}, channel.Mail{})
	err := b.send(storage.ChannelSlack, address, notices(t)["quota"].notice)
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}

// TestSender_Admit lets ten messages through at once and then one in two minutes. A
// message without a place takes none.
func TestSender_Admit(t *testing.T) {
	b := newBench(t, send.Guard{}, channel.Mail{})
	one, other := storage.KindChannel.Ref("acme", "ch_1"), storage.KindChannel.Ref("acme", "ch_2")
	for i := range 10 {
		if wait, ok := b.sender.Admit(one, now, time.Hour); wait != 0 || !ok {
			t.Fatalf("message %d waits %s, %v", i, wait, ok)
		}
	}
	for i := range 30 {
		if wait, ok := b.sender.Admit(one, now, time.Hour); wait != time.Duration(i+1)*2*time.Minute || !ok {
			t.Fatalf("message %d waits %s, %v", i+10, wait, ok)
		}
	}
	for range 100 {
		if _, ok := b.sender.Admit(one, now, time.Hour); ok {
			t.Fatal("a message that waits for more than an hour has a place")
		}
	}
	if wait, ok := b.sender.Admit(one, now.Add(time.Hour), 4*time.Minute); wait != 2*time.Minute || !ok {
		t.Errorf("after an hour a message waits %s, %v", wait, ok)
	}
	if wait, ok := b.sender.Admit(other, now, 0); wait != 0 || !ok {
		t.Errorf("another channel's message waits %s, %v", wait, ok)
	}
}

// TestSender_Test reports the result, and refuses more tests than the rate allows.
func TestSender_Test(t *testing.T) {
	box := smtptest.Listen(t, loopback, smtptest.NoTLS)
	b := newBench(t, send.Guard{}, mailOf(box, "smtp", "tls=none", nil))
	c := storage.Channel{ID: "ch_1", ChannelSettings: storage.ChannelSettings{Kind: storage.ChannelEmail, Address: "ops@acme.example"}, Base: storage.Base{OrganizationID: "acme"}}
	delivered := 0
	for range 15 {
		if result := b.sender.Test(t.Context(), c, now); result.Delivered {
			delivered++
		} else if !strings.Contains(result.Reason, "wait 2m") {
			t.Errorf("%+v", result)
		}
	}
	if delivered != 10 || len(box.Emails()) != 10 {
		t.Errorf("%d tests were delivered, and %d arrived", delivered, len(box.Emails()))
	}
	c.ID, c.Address = "ch_2", "not an address"
	if result := b.sender.Test(t.Context(), c, now); result.Delivered || !strings.Contains(result.Reason, "address") {
		t.Errorf("a failed test ended as %+v", result)
	}
}

// TestSender_TestNewChannels refuses the tests of an organization that creates and deletes
// channels all the time. Each new channel has a rate of its own.
func TestSender_TestNewChannels(t *testing.T) {
	box := smtptest.Listen(t, loopback, smtptest.NoTLS)
	b := newBench(t, send.Guard{}, mailOf(box, "smtp", "tls=none", nil))
	test := func(org, id string) events.ChannelTest {
		c := storage.Channel{ID: id, ChannelSettings: storage.ChannelSettings{Kind: storage.ChannelEmail, Address: "victim@bolt.example"}, Base: storage.Base{OrganizationID: org}}
		return b.sender.Test(t.Context(), c, now)
	}
	delivered := 0
	for i := range 100 {
		if result := test("acme", fmt.Sprint("ch_", i)); result.Delivered {
			delivered++
		} else if !strings.Contains(result.Reason, "tested many channels: wait 2m") {
			t.Errorf("%+v", result)
		}
	}
	for range 10 {
		test("acme", "ch_99")
	}
	if wait, ok := b.sender.Admit(storage.KindChannel.Ref("acme", "ch_99"), now, time.Hour); wait != 0 || !ok {
		t.Errorf("after refused tests a message to the channel waits %s, %v", wait, ok)
	}
	if delivered != 20 {
		t.Errorf("%d tests were delivered, want 20", delivered)
	}
	if !test("bolt", "ch_1").Delivered {
		t.Error("another organization's test was refused")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
