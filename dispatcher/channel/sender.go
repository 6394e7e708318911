package channel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

// timeout is the timeout of one attempt, connection included.
const timeout = 10 * time.Second

// Limits of the messages to one channel from one process. They protect people from a
// flood, and the operator's SMTP server from abuse. The tests of all channels of an
// organization have a limit, too: a new channel for each test has a new limit.
const (
	burst      = 10
	testsBurst = 20
	every      = 2 * time.Minute
)

// Sender sends messages to notification channels.
type Sender struct {
	vault *vault.Vault
	http  *send.Sender
	mail  Mail

	mu       sync.Mutex
	limiters map[storage.Ref]*rate.Limiter
}

// New returns a sender. It posts through the given sender, which checks destinations.
func New(v *vault.Vault, http *send.Sender, m Mail) *Sender {
	return &Sender{vault: v, http: http, mail: m, limiters: map[storage.Ref]*rate.Limiter{}}
}

// maxLimiters bounds the channels with a limiter. A full map is cleared.
const maxLimiters = 16384

// Admit takes a place in a channel's rate and returns how long the message must wait for
// it. ok is false if it must wait for longer than most. Then it takes no place.
func (s *Sender) Admit(ref storage.Ref, now time.Time, most time.Duration) (wait time.Duration, ok bool) {
	place := s.limiter(ref).ReserveN(now, 1)
	if wait = place.DelayFrom(now); wait > most {
		place.CancelAt(now)
		return wait, false
	}
	return wait, true
}

func (s *Sender) limiter(ref storage.Ref) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.limiters[ref]
	if l == nil {
		if len(s.limiters) >= maxLimiters {
			clear(s.limiters)
		}
		most := burst
		if ref.ID == "" {
			most = testsBurst
		}
		l = rate.NewLimiter(rate.Every(every), most)
		s.limiters[ref] = l
	}
	return l
}

var errNoServer = errors.New("the operator has not set smtp-url")

// Send makes one attempt to send a notice to a channel.
func (s *Sender) Send(ctx context.Context, c storage.Channel, n *events.Notice, now time.Time) error {
	if n.Message == nil {
		return fmt.Errorf("notification channels do not carry %s", n.Type)
	}
	if err := s.vault.OpenChannel(&c); err != nil {
		return err
	}
	id := n.MessageID(c.ID)
	if c.Kind != storage.ChannelEmail {
		return s.post(ctx, &c, id, n, now)
	}
	if s.mail.Server == nil {
		return errNoServer
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.mail.send(ctx, c.Address, id, n.Message); err != nil {
		return errors.New(oneLine(err))
	}
	return nil
}

func (s *Sender) post(ctx context.Context, c *storage.Channel, id string, n *events.Notice, now time.Time) error {
	to, err := url.Parse(postURL(c.Kind, c.Address))
	if err != nil {
		return errors.New("the address is not a URL") // err would show the secret
	}
	text, err := body(c.Kind, n)
	if err != nil {
		return err
	}
	a := s.http.Send(ctx, &send.Destination{
		TargetOptions: httpclient.TargetOptions{Organization: c.OrganizationID, URL: to, Header: http.Header{"Content-Type": {"application/json"}}},
		Timeout:       timeout, EndpointID: c.ID,
	}, &send.Request{At: now, ID: id, Body: text})
	if a.Verdict() != policy.Delivered {
		return errors.New(strings.Replace(a.Reason(), "the endpoint", "the channel", 1))
	}
	return nil
}

// Test sends a test message to a channel and returns the result.
func (s *Sender) Test(ctx context.Context, c storage.Channel, now time.Time) events.ChannelTest {
	// The organization is first: a refused test must not take a place of the channel's messages.
	if wait, ok := s.Admit(storage.Ref{Kind: storage.KindChannel, Org: c.OrganizationID}, now, 0); !ok {
		return events.ChannelTest{Reason: "the organization has tested many channels: wait " + wait.Round(time.Second).String()}
	}
	if wait, ok := s.Admit(c.Ref(), now, 0); !ok {
		return events.ChannelTest{Reason: "the channel has had many messages: wait " + wait.Round(time.Second).String()}
	}
	n := events.NewChannelTest(&c, now)
	if err := s.Send(ctx, c, &n, now); err != nil {
		return events.ChannelTest{Reason: err.Error()}
	}
	return events.ChannelTest{Delivered: true}
}
