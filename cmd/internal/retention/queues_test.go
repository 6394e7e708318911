package retention

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// passing are the streams whose messages of an organization stay after its deletion, until
// their retention has passed.
var passing = []string{
	"GRIDHOOK_RECEIPTS", "GRIDHOOK_TRIGGERS", "GRIDHOOK_RETRIES", "GRIDHOOK_KNOWN", "GRIDHOOK_WALKS", "GRIDHOOK_NOTICES", "GRIDHOOK_DEAD",
}

// shorten gives the streams with a constant retention the age of a month.
func (f *fleet) shorten() {
	t := f.t
	nc, err := nats.Connect("", f.server.Option())
	must(t, err)
	defer nc.Close()
	js, err := natsjs.New(nc)
	must(t, err)
	for _, name := range []string{"GRIDHOOK_KNOWN", "GRIDHOOK_WALKS", "GRIDHOOK_DEAD"} {
		s, err := js.Stream(within(t), name)
		must(t, err)
		cfg := s.CachedInfo().Config
		cfg.MaxAge, cfg.Duplicates = month, month
		_, err = js.UpdateStream(within(t), cfg)
		must(t, err)
	}
}

// furnishQueues stores zebra's OpenADR objects and a channel, and what a worker stores of
// its triggers: a waiting retry, known signals, a position, a notice and a dead letter.
func (f *fleet) furnishQueues() {
	t, ctx, now := f.t, within(f.t), time.Now().UTC().Truncate(time.Millisecond)
	of := storage.Base{OrganizationID: zebra}
	storagetest.Put(t, f.store,
		&storage.Channel{ID: "zqchannel", Base: of, ChannelSettings: storage.ChannelSettings{Kind: storage.ChannelEmail, Address: "ops@quagga.example", Enabled: true}},
		&storage.OpenADRObject{ID: "zqprogram", Type: storage.OpenADRProgram, Name: "Zebra and Quagga", Body: json.RawMessage(`{"programName":"zqprogram"}`), Base: of},
		&storage.OpenADRObject{ID: "zqevent", Type: storage.OpenADREvent, Parent: "zqprogram", Body: json.RawMessage(`{"eventName":"zqevent"}`), Base: of},
		&storage.OpenADRObject{ID: "zqreport", Type: storage.OpenADRReport, Parent: "zqevent", ClientID: "zqclient", Body: json.RawMessage(`{"clientName":"zqreport"}`), Base: of},
		&storage.OpenADRObject{ID: "zqven", Type: storage.OpenADRVEN, Name: "zqven", ClientID: "zqclient", Body: json.RawMessage(`{"venName":"zqven"}`), Base: of},
		&storage.OpenADRObject{ID: "zqresource", Type: storage.OpenADRResource, Name: "zqresource", Parent: "zqven", ClientID: "zqclient", Body: json.RawMessage(`{"resourceName":"zqresource"}`), Base: of},
		&storage.OpenADRObject{
			ID: "sub_zqsubscription", Type: storage.OpenADRSubscription, Parent: "zqprogram", Body: json.RawMessage(`{}`), Base: of,
			Callbacks: []storage.Callback{{URL: "https://quagga.example/openadr"}},
		})
	trigger := events.Trigger{ID: storage.NewID("trg_", now), OrganizationID: zebra}
	body, err := json.Marshal(trigger)
	must(t, err)
	_, err = f.conn.PutRetries(ctx, []events.Retry{{
		Trigger: trigger, Attempt: 2, Round: 1, DueAt: storage.Time{Time: now.Add(5 * month)},
		RetryInputs: events.RetryInputs{EndpointID: "zqendpoint", Homes: []events.RetryHome{{HomeID: "zqhome0"}}},
	}})
	must(t, err)
	_, err = f.conn.PutKnown(ctx, zebra, "zqendpoint", 0, events.Known{Receiver: "https://quagga.example", Signals: map[string]string{"zqhome0": "x"}})
	must(t, err)
	must(t, f.conn.PutPosition(events.WalkPosition{OrganizationID: zebra, TriggerID: trigger.ID}))
	_, err = f.conn.PutNotice(ctx, events.Notice{ID: "evt_1", Type: storage.EventTriggerCompleted, OrganizationID: zebra, About: "zqendpoint", Data: json.RawMessage(`"quagga.example"`)})
	must(t, err)
	must(t, f.conn.PutDeadLetter(ctx, events.DeadLetter{ID: trigger.ID, Kind: "slice", OrganizationID: zebra, Reason: `home "zqhome0"`, Body: body}))
}

// awaitPassing waits until no message of a deleted organization is left in the queues. A
// worker takes the retry when it is due.
func (f *fleet) awaitPassing() {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() {
		done <- f.conn.ConsumeRetries(ctx, ctx, 2, func(_ context.Context, r events.Retry, _ events.Taken) error {
			if r.Trigger.OrganizationID != zebra {
				f.t.Errorf("a retry of %q", r.Trigger.OrganizationID)
			}
			return nil
		})
	}()
	f.awaitEmpty(passing...)
	cancel()
	if err := <-done; err != nil && ctx.Err() == nil {
		f.t.Error(err)
	}
}

// awaitEmpty waits until streams have no message.
func (f *fleet) awaitEmpty(streams ...string) {
	f.await("messages expire", func() bool {
		sizes := f.sizes()
		return !slices.ContainsFunc(streams, func(stream string) bool { return sizes[stream] > 0 })
	})
}
