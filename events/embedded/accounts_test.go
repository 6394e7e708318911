package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events/embedded"
)

// mqttWorld is a server with MQTT clients of several organizations.
type mqttWorld struct {
	*testing.T
	dir    string
	server *embedded.Server
}

// mqttStore is the size of the server's store in bytes.
const mqttStore = 256 << 20

// options admit each client to all topics of the organization that is its user.
func (w *mqttWorld) options() embedded.Options {
	return embedded.Options{Dir: w.dir, MaxStore: mqttStore, StartTimeout: patience, Log: slog.New(slog.DiscardHandler), MQTT: &embedded.MQTT{
		Listen: "127.0.0.1:0",
		Admit: func(user, _ string) (embedded.Admission, bool) {
			return embedded.Admission{Organization: user, Prefixes: []string{"t/"}, Until: time.Now().Add(time.Hour)}, user != ""
		},
	}}
}

func newMQTTWorld(t *testing.T, change ...func(*embedded.Options)) *mqttWorld {
	t.Helper()
	w := &mqttWorld{T: t, dir: t.TempDir()}
	o := w.options()
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.server, err = embedded.Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, w.server) })
	return w
}

func (w *mqttWorld) done(token paho.Token) {
	w.Helper()
	if !token.WaitTimeout(patience) || token.Error() != nil {
		w.Fatalf("the broker did not do it: %v", token.Error())
	}
}

// device is a connected MQTT client with a persistent session.
type device struct {
	paho.Client
	got  chan string
	lost chan error
}

func (w *mqttWorld) device(org, id, topic string) *device {
	w.Helper()
	d := w.client(org, id)
	w.done(d.Connect())
	w.Cleanup(func() { d.Disconnect(0) })
	w.done(d.Subscribe(topic, 1, nil))
	return d
}

func (w *mqttWorld) client(org, id string) *device {
	d := &device{got: make(chan string, 100), lost: make(chan error, 1)}
	d.Client = paho.NewClient(paho.NewClientOptions().AddBroker(fmt.Sprint("mqtt://127.0.0.1:", w.server.MQTTPort())).
		SetClientID(id).SetUsername(org).SetPassword("any").SetCleanSession(false).SetAutoReconnect(false).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { d.got <- string(m.Payload()) }).
		SetConnectionLostHandler(func(_ paho.Client, err error) { d.lost <- err }))
	return d
}

func (w *mqttWorld) wants(d *device, text string) {
	w.Helper()
	select {
	case got := <-d.got:
		if got != text {
			w.Errorf("got %q, want %q", got, text)
		}
	case <-time.After(patience):
		w.Fatalf("no message %q", text)
	}
}

// publish publishes a retained message as this process does.
func (w *mqttWorld) publish(org, topic, text string) {
	w.Helper()
	user, password := w.server.Credentials(org)
	c := paho.NewClient(paho.NewClientOptions().AddBroker("mqtt://127.0.0.1").SetUsername(user).SetPassword(password).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return w.server.DialMQTT(w.Context(), org) }))
	w.done(c.Connect())
	defer c.Disconnect(0)
	w.done(c.Publish(topic, 1, true, text))
}

// files returns the paths of the server's files that contain a text.
func (w *mqttWorld) files(text string) (list []string) {
	w.Helper()
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the server deletes purged files some time later
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(path) //nolint:gosec // of the test itself
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(body, []byte(text)) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

// Organizations have their own client identifiers, sessions and retained messages, also
// after a restart.
func TestMQTT_Accounts(t *testing.T) {
	w := newMQTTWorld(t)
	acme, other := w.device("acme", "device-1", "t/#"), w.device("other", "device-1", "t/#")
	w.publish("acme", "t/price", "of acme")
	w.publish("other", "t/price", "of other")
	w.wants(acme, "of acme")
	w.wants(other, "of other")
	if len(acme.lost)+len(other.lost) > 0 {
		t.Error("a client with the identifier of another organization's client ended its connection")
	}
	w.comesLate("acme", "t/price", "of acme") // the broker retains a message some time after it passed it on
	w.comesLate("other", "t/price", "of other")
	if err := w.server.Restart(patience); err != nil {
		t.Fatal(err)
	}
	w.comesLate("acme", "t/price", "of acme")
	w.comesLate("other", "t/price", "of other")
}

// gate blocks the log lines with a text until it is closed.
type gate struct {
	slog.Handler
	text    string
	reached chan struct{}
	opened  chan struct{}
}

func (gate) Enabled(context.Context, slog.Level) bool { return true }

func (g gate) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, g.text) {
		select {
		case g.reached <- struct{}{}:
		default:
		}
		<-g.opened
	}
	return nil
}

// An account that opens slowly, such as one with many files, delays no client of another
// organization.
func TestMQTT_SlowAccount(t *testing.T) {
	g := gate{slog.DiscardHandler, "mqtt-slow", make(chan struct{}, 1), make(chan struct{})}
	w := newMQTTWorld(t, func(o *embedded.Options) {
		o.Log = slog.New(g)
		if err := os.MkdirAll(filepath.Join(o.Dir, "jetstream", "mqtt-slow", "streams", "broken"), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	slow := w.client("slow", "device").Connect() // the server logs that the broken stream lacks a file
	select {
	case <-g.reached:
	case <-time.After(patience):
		t.Fatal("the server does not log the broken stream")
	}
	other := w.client("other", "device")
	defer other.Disconnect(0)
	ready := other.Connect().WaitTimeout(patience)
	close(g.opened)
	if !ready {
		t.Error("a client waits for the account of another organization")
	}
	slow.Wait()
}

// comesLate subscribes new clients until one gets a retained message.
func (w *mqttWorld) comesLate(org, topic, text string) {
	w.Helper()
	for n := range 20 {
		select {
		case got := <-w.device(org, fmt.Sprint("late-", strings.ReplaceAll(text, " ", "-"), n), topic).got:
			if got != text {
				w.Errorf("%s has retained %q, want %q", org, got, text)
			}
			return
		case <-time.After(time.Second):
		}
	}
	w.Fatalf("%s has retained no message", org)
}

// Sessions end a day after the last connection, and an organization cannot fill the store
// with them.
func TestMQTT_SessionBounds(t *testing.T) {
	w := newMQTTWorld(t)
	w.device("acme", "device", "t/#")
	nc, js := connect(t, w.server, nats.UserInfo(w.server.Credentials("acme")))
	defer nc.Close()
	s, err := js.Stream(t.Context(), "$MQTT_sess")
	if err != nil {
		t.Fatal(err)
	}
	if i := s.CachedInfo(); i.State.Msgs != 1 || i.Config.MaxAge != 24*time.Hour || i.Config.MaxMsgs*int64(i.Config.MaxMsgSize) != mqttStore/64 || i.Config.Discard != jetstream.DiscardNew {
		t.Errorf("the sessions are %+v", i)
	}
}

// A client with too many subscriptions is disconnected. The limit is not one of this process's
// own connections, over which workers fetch their work.
func TestMQTT_Subscriptions(t *testing.T) {
	w := newMQTTWorld(t)
	d := w.device("acme", "device", "t/price")
	greedy := w.raw("acme", "greedy")
	for number := range 512 {
		w.subscribe(greedy, fmt.Sprint("t/", number))
	}
	w.ask(greedy, "t/more")
	if !ended(greedy) {
		t.Error("a client has 513 subscriptions")
	}
	w.publish("acme", "t/price", "0.25")
	w.wants(d, "0.25")

	own, err := nats.Connect("", w.server.Option())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for range 600 {
		if _, err := own.SubscribeSync("x"); err != nil {
			t.Fatal(err)
		}
	}
	last, err := own.SubscribeSync("last")
	if err = errors.Join(err, own.Publish("last", nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := last.NextMsg(patience); err != nil {
		t.Errorf("subscription 601 of this process gets no message: %v", err)
	}
}

// The oldest messages for absent clients go once they take the organization's share of the
// store. What is retained stays, and then there is no room.
func TestMQTT_Room(t *testing.T) {
	w := newMQTTWorld(t)
	w.device("acme", "reader", "t/#").Disconnect(0)
	nc, js := connect(t, w.server, nats.UserInfo(w.server.Credentials("acme")))
	defer nc.Close()
	waiting := func() uint64 {
		s, err := js.Stream(t.Context(), "$MQTT_msgs")
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.Msgs
	}
	large := strings.Repeat("x", 1<<20)
	for n := range uint64(3 * mqttStore >> 20 / 32) {
		if !w.room("acme") {
			t.Fatalf("there is no room after %d MiB", n)
		}
		w.publish("acme", "t/price", large)
		if got := waiting(); got > mqttStore>>20/32 || n == 0 && got == 0 {
			t.Fatalf("%d MiB wait for an absent client after %d MiB", got, n+1)
		}
	}
	for n := 0; w.room("acme"); n++ {
		if n > 2*mqttStore>>20/32 {
			t.Fatalf("there is room beside %d MiB of retained messages", n)
		}
		w.publish("acme", fmt.Sprint("t/", n), large)
	}
	if !w.room("other") {
		t.Error("another organization has no room")
	}
}

func (w *mqttWorld) room(org string) bool {
	w.Helper()
	room, err := w.server.MakeMQTTRoom(org)
	if err != nil {
		w.Fatal(err)
	}
	return room
}

// Compact keeps the messages of each organization.
func TestCompact_MQTT(t *testing.T) {
	w := newMQTTWorld(t)
	w.publish("acme", "t/price", "of acme")
	w.comesLate("acme", "t/price", "of acme")
	stop(t, w.server)
	folder := filepath.Join(t.TempDir(), "compact")
	if err := embedded.Compact(t.Context(), w.options(), folder); err != nil {
		t.Fatal(err)
	}
	w.dir = folder
	var err error
	if w.server, err = embedded.Start(w.options()); err != nil {
		t.Fatal(err)
	}
	w.comesLate("acme", "t/price", "of acme")
}

// EraseMQTT erases the topics, clients and messages of one organization only. The organization's identifier can be used again.
func TestEraseMQTT(t *testing.T) {
	for name, off := range map[string]bool{"with a listener": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			w := newMQTTWorld(t)
			for _, org := range []string{"acme", "other"} {
				w.publish(org, "t/topic-"+org, "message-"+org)
				w.comesLate(org, "t/topic-"+org, "message-"+org) // until then a client may miss it
				w.wants(w.device(org, "device-"+org, "t/topic-"+org), "message-"+org)
			}
			if off {
				o := w.options()
				o.MQTT = nil
				stop(t, w.server)
				var err error
				if w.server, err = embedded.Start(o); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // it may be repeated
				if err := w.server.EraseMQTT("acme"); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.server.EraseMQTT("nobody"); err != nil {
				t.Error(err)
			}
			for _, text := range []string{"topic-", "device-", "message-"} {
				for began := time.Now(); ; {
					list := w.files(text + "acme")
					if len(list) == 0 {
						break
					}
					if time.Since(began) > patience {
						t.Fatalf("%sacme is in %s", text, strings.Join(list, ", "))
					}
				}
				if len(w.files(text+"other")) == 0 {
					t.Errorf("%sother is gone", text)
				}
			}
			if !off {
				// The server finds that the session in its memory is gone, and forgets it.
				if token := w.client("acme", "device-acme").Connect(); !token.WaitTimeout(patience) || token.Error() == nil {
					t.Error("the session is still there")
				}
				again := w.device("acme", "device-acme", "t/new")
				w.publish("acme", "t/new", "again")
				w.wants(again, "again")
			}
		})
	}
}

// An account that no client has opened since the start is no fault of the server.
func TestServer_HealthyWithClosedAccounts(t *testing.T) {
	w := newMQTTWorld(t)
	w.publish("acme", "t/price", "of acme")
	for range 2 {
		if err := w.server.Restart(patience); err != nil {
			t.Fatal(err)
		}
		if err := w.server.Healthy(); err != nil {
			t.Error(err)
		}
	}
	w.publish("acme", "t/price", "of acme")
	if err := w.server.Healthy(); err != nil {
		t.Error(err)
	}
	stop(t, w.server)
	o := w.options()
	o.MQTT = nil
	var err error
	if w.server, err = embedded.Start(o); err != nil {
		t.Fatal(err)
	}
	if err := w.server.Healthy(); err != nil {
		t.Errorf("without MQTT: %v", err)
	}
}

// After a restart no folder has the name of an erased organization. The messages of an
// organization that was created again stay.
func TestEraseMQTT_Folder(t *testing.T) {
	w := newMQTTWorld(t)
	for _, org := range []string{"acme", "again", "other"} {
		w.publish(org, "t/price", "of "+org)
		w.comesLate(org, "t/price", "of "+org)
	}
	for _, org := range []string{"acme", "again"} {
		if err := w.server.EraseMQTT(org); err != nil {
			t.Fatal(err)
		}
	}
	w.publish("again", "t/new", "created again")
	w.comesLate("again", "t/new", "created again")
	if err := w.server.Restart(patience); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(w.dir, "*", "mqtt-*"))
	if err != nil || len(folders) != 2 {
		t.Errorf("the folders are %q, %v", folders, err)
	}
	w.comesLate("again", "t/new", "created again")
	w.comesLate("other", "t/price", "of other")
}
