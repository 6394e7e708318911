package promise

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/openadr"
	"github.com/gridhook/gridhook/storage"
)

// TestFleet_MQTT runs an api and a worker on a nats-server that speaks MQTT. The callback of
// business logic publishes each notification there. A later MQTT client gets the newest
// event, and then its change.
func TestFleet_MQTT(t *testing.T) {
	t.Parallel()
	const operatorKey, topic = "gho_promise_0123456789abcdef", "prices"
	server := &blackbox.NATS{Binary: binaries.NATS, Dir: t.TempDir(), Address: freeAddress(t), MQTT: freeAddress(t), Patience: patience}
	running, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Kill)
	bus := []string{"--nats", "nats://" + server.Address, "--openadr"}
	api := start(t, "api", t.TempDir(), append(bus, "--operator-key", operatorKey)...)
	start(t, "worker", t.TempDir(), bus...)
	operator := &client.Client{BaseURL: api.admin, Key: operatorKey}
	if _, err := operator.CreateOrganization(t.Context(), client.NewOrganization{ID: organization, Name: "Acme Thermostats"}); err != nil {
		t.Fatal(err)
	}
	business, err := openadr.NewClient(t.Context(), operator, api.api, organization, storage.ScopeBusiness, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	do := func(method, path, body string) string {
		t.Helper()
		var object struct{ ID string }
		if err := business.Do(t.Context(), method, path, body, &object); err != nil {
			t.Fatal(err)
		}
		return object.ID
	}
	program := do(http.MethodPost, "programs", `{"programName":"fleet"}`)
	do(http.MethodPost, "subscriptions", fmt.Sprintf(
		`{"clientName":"bridge","objectOperations":[{"objects":["EVENT"],"operations":["CREATE","UPDATE"],"callbackUrl":%q}]}`, bridge(t, server.MQTT, topic)))
	body := `{"programID":"` + program + `","eventName":"%s"}`
	event := do(http.MethodPost, "events", fmt.Sprintf(body, "first"))
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	late, got := mqttClient(t, server.MQTT)
	for retained := false; !retained; {
		succeed(t, late.Subscribe(topic, 1, nil))
		succeed(t, late.Unsubscribe(topic)) // the broker sends what it retains before its response
		select {
		case m := <-got:
			retained = m.Retained() // before that, the message may come as a new one
			if !strings.Contains(string(m.Payload()), `"eventName":"first"`) {
				t.Fatalf("the message is %s", m.Payload())
			}
		case <-ctx.Done():
			t.Fatal("no retained event")
		default:
		}
	}
	succeed(t, late.Subscribe(topic, 1, nil))
	do(http.MethodPut, "events/"+event, fmt.Sprintf(body, "second"))
	for {
		select {
		case m := <-got:
			if text := string(m.Payload()); strings.Contains(text, `"operation":"UPDATE"`) && strings.Contains(text, `"eventName":"second"`) {
				return
			}
		case <-ctx.Done():
			t.Fatal("no message of the change")
		}
	}
}

// bridge returns the URL of a callback that publishes each notification to a broker.
func bridge(t *testing.T, broker, topic string) string {
	t.Helper()
	publisher, _ := mqttClient(t, broker)
	callback := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // the challenge to a new subscription
			_, _ = io.WriteString(w, r.URL.Query().Get("echo"))
			return
		}
		body, err := io.ReadAll(r.Body)
		if token := publisher.Publish(topic, 1, true, body); err != nil || !token.WaitTimeout(5*time.Second) || token.Error() != nil {
			w.WriteHeader(http.StatusServiceUnavailable) // Gridhook retries
		}
	}))
	t.Cleanup(callback.Close)
	return callback.URL
}

// mqttClient connects to a broker. got has the messages of all subscriptions.
func mqttClient(t *testing.T, broker string) (c paho.Client, got chan paho.Message) {
	t.Helper()
	got = make(chan paho.Message, 1000)
	c = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + broker).SetClientID(fmt.Sprint("test-", time.Now().UnixNano())).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { got <- m }))
	succeed(t, c.Connect())
	t.Cleanup(func() { c.Disconnect(0) })
	return c, got
}

func succeed(t *testing.T, token paho.Token) {
	t.Helper()
	if !token.WaitTimeout(patience) {
		t.Fatal("the broker does not respond")
	}
	if err := token.Error(); err != nil {
		t.Fatal(err)
	}
}
