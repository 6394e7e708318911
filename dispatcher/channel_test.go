package dispatcher

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/channel"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// chat is a receiver of messages to channels. It records their texts.
type chat struct {
	status atomic.Int64

	mu    sync.Mutex
	texts []string
	at    []time.Time
}

// chat stores a Slack channel of an owner and starts its receiver.
func (w *world) chat(owner, id string, change ...func(*storage.Channel)) *chat {
	w.t.Helper()
	c := &chat{}
	c.status.Store(http.StatusOK)
	w.partner.hosts(id, c)
	w.channel(owner, id, storage.ChannelSlack, "http://"+id+".example/hush", change...)
	return c
}

func (w *world) channel(owner, id string, kind storage.ChannelKind, address string, change ...func(*storage.Channel)) {
	w.t.Helper()
	c := storage.Channel{ID: id, ChannelSettings: storage.ChannelSettings{Kind: kind, Address: address, Enabled: true}, Base: storage.Base{OrganizationID: owner}}
	for _, change := range change {
		change(&c)
	}
	if err := w.vault.SealChannel(&c, &storage.Channel{}); err != nil {
		w.t.Fatal(err)
	}
	storagetest.Put(w.t, w.store, &c)
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Text string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	c.mu.Lock()
	title, _, _ := strings.Cut(body.Text, "\n")
	c.texts, c.at = append(c.texts, strings.Trim(title, "*")), append(c.at, time.Now())
	c.mu.Unlock()
	w.WriteHeader(int(c.status.Load()))
}

// got returns the titles of the messages.
func (c *chat) got() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}

// quotaNotice returns a notice for channels.
func quotaNotice(org, id string) events.Notice {
	n := events.QuotaNotices(org, events.Quota{Waiting: 10}, events.Usage{Waiting: 9}, 0, time.Now().UTC())[0]
	n.ID = "evt_" + id
	return n
}

func (w *world) putNotice(n events.Notice) {
	w.t.Helper()
	if _, err := w.bus.PutNotice(w.t.Context(), n); err != nil {
		w.t.Fatal(err)
	}
}

// People hear of the only endpoint of an organization: at a quarter and a half of the time
// that its policy tolerates, when it is disabled, and when it has recovered. The operator
// hears of every organization. Another organization does not.
func TestChannel_EndpointFails(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.endpoint("only", func(e *storage.WebhookEndpoint) {
			e.RetryPolicy = storage.RetryPolicy{InitialSeconds: 60, Multiplier: 1, MaxSeconds: 60, GiveUpSeconds: 86400, DisableAfterSeconds: 3600}
			e.EventTypes = []string{storage.EventPriceSignalUpdated}
		})
		w.neighbor(1)
		own, operators, others := w.chat("org", "own"), w.chat(storage.Shared, "operators"), w.chat("neighbor", "others")
		w.partner.answers(taking(func(a arrival) int {
			return map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}[w.stored("only").Disabled == nil && a.sequence > 1]
		}))
		w.worker()
		defer w.notifier()()
		w.trigger(24)
		wants := func(titles ...string) {
			t.Helper()
			for name, c := range map[string]*chat{"the organization": own, "the operator": operators} {
				if got := c.got(); !slices.Equal(got, titles) {
					t.Errorf("%s got %q, want %q", name, got, titles)
				}
			}
		}
		const (
			failing   = "Endpoint only of org is failing"
			disabled  = "Endpoint only of org is disabled"
			failures  = "A trigger of org ended with failures"
			recovered = "Endpoint only of org has recovered"
		)
		<-time.After(14 * time.Minute)
		wants()
		<-time.After(5 * time.Minute)
		wants(failing)
		<-time.After(15 * time.Minute)
		wants(failing, failing)
		<-time.After(40 * time.Minute)
		wants(failing, failing, disabled, failures)
		w.change("only", func(e *storage.WebhookEndpoint) { e.SetEnabled(true) })
		w.trigger(24)
		w.rest(time.Minute)
		wants(failing, failing, disabled, failures, recovered)
		if got := others.got(); len(got) != 0 {
			t.Errorf("another organization got %q", got)
		}
		if got, _ := w.notices(storage.EventEndpointFailing); len(got) != 0 {
			t.Errorf("an endpoint got %v", got)
		}
	})
}

// A trigger whose deliveries fail is reported once.
func TestChannel_TriggerFails(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep", patience(60))
		own := w.chat("org", "own")
		began := time.Now()
		w.partner.answers(taking(func(a arrival) int {
			if a.kind == storage.EventTriggerCompleted {
				return http.StatusOK
			}
			return http.StatusBadRequest
		}))
		w.worker()
		defer w.notifier()()
		w.trigger(24)
		w.rest(5 * time.Minute)
		if got := own.got(); !slices.Equal(got, []string{"A trigger of org ended with failures"}) {
			t.Errorf("got %q", got)
		}
		if took := time.Since(began); took > time.Hour {
			t.Errorf("messages waited for %s, although the channel does not carry completed triggers", took)
		}
	})
}

// A channel gets the events that it selects, while it and its organization are enabled.
func TestChannel_Wants(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		only := func(kinds ...string) func(*storage.Channel) {
			return func(c *storage.Channel) { c.Events = kinds }
		}
		chats := map[string]*chat{
			"all": w.chat("org", "all"), "quotas": w.chat("org", "quotas", only(storage.EventQuotaNear)),
			"endpoints": w.chat("org", "endpoints", only(storage.EventEndpointDisabled)),
			"paused":    w.chat("org", "paused", func(c *storage.Channel) { c.Enabled = false }),
		}
		w.worker()
		w.putNotice(quotaNotice("org", "1"))
		w.rest(time.Minute)
		for name, want := range map[string]int{"all": 1, "quotas": 1, "endpoints": 0, "paused": 0} {
			if got := chats[name].got(); len(got) != want {
				t.Errorf("%s got %q, want %d", name, got, want)
			}
		}
		_, err := storage.Update(t.Context(), w.store, storage.OrganizationRef("org"), func(o *storage.Organization) error { o.Suspended = true; return nil })
		if err != nil {
			t.Fatal(err)
		}
		w.putNotice(quotaNotice("org", "2"))
		w.rest(time.Minute)
		if got := chats["all"].got(); len(got) != 1 {
			t.Errorf("a suspended organization got %q", got)
		}
	})
}

// An SMTP server that hangs delays neither a notice to an endpoint nor a message to
// another channel, however many emails wait for it.
func TestChannel_DeadSMTP(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var dials atomic.Int64
		w.options.Mail = channel.Mail{
			Server: &url.URL{Scheme: "smtp", Host: "mail.example"}, From: "gridhook@operator.example",
			Dial: func(context.Context, string, string) (net.Conn, error) {
				dials.Add(1)
				ours, _ := net.Pipe()
				return ours, nil
			},
		}
		const emails = 2 * channelSlots
		for i := range emails {
			w.channel("org", fmt.Sprintf("a%03d", i), storage.ChannelEmail, "ops@org.example")
		}
		last := w.chat("org", "zulu")
		w.endpoint("ends", only(storage.EventTriggerCompleted))
		var notified atomic.Int64
		w.partner.answers(func(*http.Request, arrival) int { notified.Add(1); return http.StatusOK })
		worker := w.worker()
		w.putNotice(quotaNotice("org", "1"))
		defer w.notifier()()
		w.trigger(24)
		<-time.After(9 * time.Second) // less than the timeout of the first email
		if dials.Load() != emails || len(last.got()) != 1 || notified.Load() != 1 {
			t.Errorf("after 9 s %d emails hang, the other channel has %q and the endpoint %d notices", dials.Load(), last.got(), notified.Load())
		}
		<-time.After(25 * time.Hour)
		if dials.Load() < 3*emails {
			t.Errorf("%d attempts of %d emails", dials.Load(), emails)
		}
		w.bus.await(w.bus.idleLocked)
		worker.stop()
	})
}

// A message is retried until the receiver accepts it, at whatever point a worker dies.
func TestChannel_WorkersDie(t *testing.T) {
	for _, point := range []string{"before ack notice", "before put task", "after put task", "before ack task"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				own := w.chat("org", "own")
				own.status.Store(http.StatusServiceUnavailable)
				var died atomic.Bool
				w.worker(func(at string) bool { return at == point && died.CompareAndSwap(false, true) })
				w.putNotice(quotaNotice("org", "1"))
				<-time.After(time.Minute)
				if !died.Load() {
					t.Fatal("worker did not die")
				}
				w.worker()
				<-time.After(10 * time.Minute)
				tries := len(own.got())
				own.status.Store(http.StatusOK)
				w.rest(time.Hour)
				if got := len(own.got()); tries == 0 || got != tries+1 {
					t.Errorf("%d attempts failed, and then %d succeeded, want one", tries, got-tries)
				}
			})
		})
	}
}

// A flood of notices reaches a channel ten at once, and then one in two minutes.
func TestChannel_Flood(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		operators := w.chat(storage.Shared, "operators")
		w.worker()
		const flood = 1000
		for i := range flood {
			w.putNotice(quotaNotice("org", fmt.Sprint(i)))
		}
		<-time.After(time.Minute)
		if got := len(operators.got()); got != 10 {
			t.Errorf("%d messages arrived at once, want 10", got)
		}
		<-time.After(time.Hour)
		if got := len(operators.got()); got < 39 || got > 41 {
			t.Errorf("%d messages arrived in an hour, want 40", got)
		}
		w.rest(25 * time.Hour)
		if got := len(operators.got()); got < 720 || got > 731 {
			t.Errorf("%d messages arrived in a day, want 730", got)
		}
		w.putNotice(quotaNotice("org", "later"))
		w.rest(5 * time.Minute)
		if got := len(operators.got()); got < 721 {
			t.Errorf("the message after the flood did not arrive")
		}
	})
}
