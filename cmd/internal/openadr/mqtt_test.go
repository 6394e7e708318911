package openadr_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/config"
)

func withMQTT(o *app.Options) { o.MQTT = "127.0.0.1:0" }

// withTLS gives the listeners a certificate of a test authority.
func withTLS(t *testing.T) func(o *app.Options) {
	t.Helper()
	certificate, key := blackboxtest.Issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "gridhook"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	})
	dir := t.TempDir()
	pair := config.KeyPair{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	must(t, os.WriteFile(pair.Certificate, certificate, 0o600))
	must(t, os.WriteFile(pair.Key, key, 0o600))
	return func(o *app.Options) { o.TLS = pair }
}

func authorities(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// broker is the broker as the notifiers object describes it.
type broker struct{ uri, username string }

func (w *world) broker() broker {
	w.t.Helper()
	var shown struct {
		MQTT struct {
			URIs           []string `json:"URIS"`
			Authentication struct{ Method, Username string }
		}
	}
	must(w.t, json.Unmarshal(w.want(http.StatusOK, "ven1", http.MethodGet, "notifiers", "").body, &shown))
	if a := shown.MQTT.Authentication; len(shown.MQTT.URIs) != 1 || a.Method != "OAUTH2_BEARER_TOKEN" || a.Username != "{clientID}" {
		w.t.Fatalf("the notifiers are %+v", shown)
	}
	return broker{shown.MQTT.URIs[0], shown.MQTT.Authentication.Username}
}

// listener is an MQTT client with its received messages.
type listener struct {
	paho.Client
	got  chan paho.Message
	lost chan struct{} // closed when the broker ends the connection
}

// connect connects a client with a password. ok is false if the broker refuses it.
func (w *world) connect(clientID, password string) (l *listener, ok bool) {
	w.t.Helper()
	o := paho.NewClientOptions().AddBroker(w.broker().uri).SetClientID(fmt.Sprint("test-", time.Now().UnixNano())).
		SetUsername(clientID).SetPassword(password).SetAutoReconnect(false).SetConnectTimeout(patience)
	if w.app.TLS.Certificate != "" {
		o.SetTLSConfig(&tls.Config{RootCAs: authorities(w.t, w.app.TLS.Certificate)})
	}
	l = &listener{got: make(chan paho.Message, 1000), lost: make(chan struct{})}
	o.SetConnectionLostHandler(func(paho.Client, error) { close(l.lost) })
	l.Client = paho.NewClient(o)
	token := l.Connect()
	if !token.WaitTimeout(patience) {
		w.t.Fatal("the broker does not respond")
	}
	if token.Error() != nil {
		return nil, false
	}
	w.t.Cleanup(func() { l.Disconnect(0) })
	return l, true
}

// patience is the timeout of each wait. It only ends a wait that hangs.
const patience = 2 * time.Minute

// subscribe subscribes to the server's topic for an operation on a path. It reports
// whether the broker allows it.
func (w *world) listen(l *listener, role, path, operation string) bool {
	w.t.Helper()
	var got struct{ Topics map[string]string }
	must(w.t, json.Unmarshal(w.want(http.StatusOK, role, http.MethodGet, "notifiers/mqtt/topics/"+path, "").body, &got))
	return l.subscribes(w.t, got.Topics[operation])
}

func (l *listener) subscribes(t *testing.T, topic string) bool {
	t.Helper()
	token := l.Subscribe(topic, 1, func(_ paho.Client, m paho.Message) { l.got <- m }).(*paho.SubscribeToken)
	if !token.WaitTimeout(patience) {
		t.Fatalf("no response to the subscription of %s", topic)
	}
	return token.Error() == nil && token.Result()[topic] == 1
}

// message returns the next message.
func (l *listener) message(w *world) (m paho.Message, c callback) {
	w.t.Helper()
	select {
	case m = <-l.got:
	case <-time.After(patience):
		w.t.Fatal("no message")
	}
	return m, w.notification(m)
}

// notification returns the notification of a message, which must be valid.
func (w *world) notification(m paho.Message) (c callback) {
	w.t.Helper()
	w.document.checkNotification(w.t, m.Payload())
	must(w.t, json.Unmarshal(m.Payload(), &c))
	return c
}

// next returns the next message, which must be a notification of an operation on an
// object. It skips the program of the imported rate plan, which the scheduler announces
// some seconds after the start.
func (l *listener) next(w *world, operation, id string) callback {
	w.t.Helper()
	for {
		m, c := l.message(w)
		switch {
		case c.Operation == operation && c.Object["id"] == id:
			return c
		case c.ObjectType != "PROGRAM" || c.Object["id"] != "ev":
			w.t.Fatalf("%s delivered %s, want %s of %s", m.Topic(), m.Payload(), operation, id)
		}
	}
}

// TestMQTT_Notifications checks that business logic and a VEN get MQTT messages of every
// operation on the objects that they may see, over TLS, on the server's topics.
func TestMQTT_Notifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT, withTLS(t))
	bl, _ := w.connect(w.keys["bl"], w.tokens["bl"])
	ven, _ := w.connect(w.keys["ven1"], w.secrets["ven1"])
	id := w.venOf("ven1")
	for _, path := range []string{"programs", "vens/" + id, "vens/" + id + "/resources", "vens/" + id + "/events", "vens/" + id + "/programs"} {
		if !w.listen(ven, "ven1", path, "ALL") {
			t.Fatalf("the VEN may not subscribe to %s", path)
		}
	}
	for _, path := range []string{"reports", "subscriptions"} {
		if !w.listen(bl, "bl", path, "ALL") {
			t.Fatalf("business logic may not subscribe to %s", path)
		}
	}
	cycle := func(role, path, body, changed string, to ...*listener) {
		t.Helper()
		object := w.want(http.StatusCreated, role, http.MethodPost, path, body).field("id")
		for _, l := range to {
			l.next(w, "CREATE", object)
		}
		w.want(http.StatusOK, role, http.MethodPut, path+"/"+object, changed)
		for _, l := range to {
			l.next(w, "UPDATE", object)
		}
		w.want(http.StatusOK, role, http.MethodDelete, path+"/"+object, "")
		for _, l := range to {
			l.next(w, "DELETE", object)
		}
	}
	cycle("bl", "programs", `{"programName":"P"}`, `{"programName":"P2"}`, ven)
	own := w.want(http.StatusCreated, "bl", http.MethodPost, "programs", `{"programName":"Own"}`).field("id")
	ven.next(w, "CREATE", own)
	one, _ := w.connect(w.keys["ven2"], w.tokens["ven2"])
	w.listen(one, "ven2", "programs/"+own, "ALL")
	w.listen(one, "ven2", "programs/"+own+"/events", "ALL")
	cycle("bl", "events", `{"programID":"`+own+`"}`, `{"programID":"`+own+`","eventName":"e"}`, one)
	// An update that is followed by a deletion at once may have no notification.
	w.want(http.StatusOK, "bl", http.MethodPut, "programs/"+own, `{"programName":"Own","attributes":[]}`)
	one.next(w, "UPDATE", own)
	ven.next(w, "UPDATE", own)
	w.want(http.StatusOK, "bl", http.MethodDelete, "programs/"+own, "")
	one.next(w, "DELETE", own)
	ven.next(w, "DELETE", own)
	cycle("ven1", "resources", `{"objectType":"VEN_RESOURCE_REQUEST","venID":"`+id+`","resourceName":"r"}`, `{"objectType":"VEN_RESOURCE_REQUEST","venID":"`+id+`","resourceName":"r2"}`, ven)
	event := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=ev", "").list()[1]["id"].(string)
	cycle("ven1", "reports", `{"eventID":"`+event+`","clientName":"v","resources":[]}`, `{"eventID":"`+event+`","clientName":"v2","resources":[]}`, bl)
	subscription := `{"clientName":"v","objectOperations":[{"objects":["REPORT"],"operations":["READ"],"callbackUrl":"` + w.receiver.URL + `/quiet"}]}`
	cycle("ven1", "subscriptions", subscription, subscription, bl)
	grant := func(targets string) {
		t.Helper()
		w.want(http.StatusOK, "bl", http.MethodPut, "vens/"+id, `{"objectType":"BL_VEN_REQUEST","clientID":"`+w.keys["ven1"]+`","venName":"v","targets":[`+targets+`]}`)
		ven.next(w, "UPDATE", id)
	}
	grant(`"group1"`)
	cycle("bl", "programs", `{"programName":"T","targets":["group1","hidden"]}`, `{"programName":"T2","targets":["group1"]}`, ven)
	targeted := w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"ev","targets":["group1","hidden"]}`).field("id")
	if c := ven.next(w, "CREATE", targeted); fmt.Sprint(c.Object["targets"]) != "[group1]" {
		t.Errorf("the VEN sees %s", c.Object["targets"])
	}
	grant(`"group2"`)
	w.want(http.StatusOK, "bl", http.MethodDelete, "events/"+targeted, "")
	w.want(http.StatusOK, "bl", http.MethodDelete, "vens/"+id, "")
	ven.next(w, "DELETE", id) // and not the deletion of the event, which it may no longer see
}

// TestMQTT_Prices checks that the newest event of a program is retained for later
// clients, and that a changed tariff publishes the next.
func TestMQTT_Prices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT)
	early, _ := w.connect(w.keys["ven1"], w.tokens["ven1"])
	w.listen(early, "ven1", "programs/ev/events", "CREATE")
	early.message(w)
	late := w.comesLate("ven2", "programs/ev/events", func(callback) bool { return true })
	w.imports(`{"resource":"ratePlan","organizationId":"acme","id":"ev","tariff":` + tariff[:len(tariff)-len(`[[{"rate":0.25,"unit":"kWh"}]]}`)] + `[[{"rate":0.5,"unit":"kWh"}]]}}`)
	for _, c := late.message(w); c.Operation != "UPDATE"; _, c = late.message(w) {
	}
}

// comesLate subscribes a new client, whose first message must be retained and wanted. The
// broker retains a message a little after it has passed it on. A client that subscribes in
// between gets it as a new one, or not at all. The broker may then show the message before it
// for two minutes. So another client follows after a second.
func (w *world) comesLate(role, topics string, wanted func(callback) bool) *listener {
	w.t.Helper()
	for start := time.Now(); time.Since(start) < 2*patience; {
		late, ok := w.connect(w.keys[role], w.tokens[role])
		if !ok || !w.listen(late, role, topics, "ALL") {
			w.t.Fatalf("a client may not subscribe to %s", topics)
		}
		again := time.After(time.Second)
		select {
		case m := <-late.got:
			if m.Retained() && wanted(w.notification(m)) {
				return late
			}
			<-again
		case <-again:
		}
		late.Disconnect(0)
	}
	w.t.Fatalf("no retained message of %s", topics)
	return nil
}

// TestMQTT_Rights checks that a client connects with its own token or key, subscribes to
// what its role may see, and cannot publish.
func TestMQTT_Rights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT)
	for _, c := range []struct {
		name, user, password string
		ok                   bool
	}{
		{"the token", w.keys["ven1"], w.tokens["ven1"], true},
		{"the key", w.keys["ven1"], w.secrets["ven1"], true},
		{"another's token", w.keys["ven2"], w.tokens["ven1"], false},
		{"another's key", w.keys["ven2"], w.secrets["ven1"], false},
		{"a key without a role", w.keys["bad"], w.secrets["bad"], false},
		{"nobody", "", "", false},
		{"the process itself", "gridhook", "", false},
		{"nonsense", w.keys["ven1"], "ghat_nonsense", false},
	} {
		if _, ok := w.connect(c.user, c.password); ok != c.ok {
			t.Errorf("with %s the broker accepts it: %v, want %v", c.name, ok, c.ok)
		}
	}
	own, other := w.venOf("ven1"), w.venOf("ven2")
	for _, c := range []struct {
		role, topic string
		ok          bool
	}{
		{"ven1", "openadr3/acme/public/#", true},
		{"ven1", "openadr3/acme/vens/" + own + "/#", true},
		{"ven1", "openadr3/acme/vens/" + other + "/#", false},
		{"ven1", "openadr3/acme/vens/+/update", false},
		{"ven1", "openadr3/acme/all/events/+", false},
		{"ven1", "openadr3/other/public/#", false},
		{"ven1", "openadr3/#", false},
		{"ven1", "#", false},
		{"ven1", "STATE/#", false},
		{"ven1", "$JS/#", false},
		{"ven1", "$MQTT/#", false},
		{"bl", "openadr3/acme/#", true},
		{"bl", "openadr3/other/#", false},
		{"bl", "#", false},
		{"foreign", "openadr3/acme/all/programs/+", false},
	} {
		l, ok := w.connect(w.keys[c.role], w.tokens[c.role])
		if !ok {
			t.Fatalf("%s cannot connect", c.role)
		}
		if got := l.subscribes(t, c.topic); got != c.ok {
			t.Errorf("%s may subscribe to %s: %v, want %v", c.role, c.topic, got, c.ok)
		}
	}
	liar, _ := w.connect(w.keys["bl"], w.tokens["bl"])
	witness, _ := w.connect(w.keys["ven1"], w.tokens["ven1"])
	witness.subscribes(t, "openadr3/acme/public/programs/create")
	liar.Publish("openadr3/acme/public/programs/create", 1, true, `{"a":"lie"}`).WaitTimeout(patience)
	program := w.want(http.StatusCreated, "bl", http.MethodPost, "programs", `{"programName":"true"}`).field("id")
	witness.next(w, "CREATE", program)
}

// TestMQTT_EndedKey checks that a client is disconnected when its key is revoked or its
// organization is suspended, also with a token, and that other clients stay.
func TestMQTT_EndedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT)
	yes := true
	connect := func(role string, passwords map[string]string) *listener {
		l, ok := w.connect(w.keys[role], passwords[role])
		if !ok {
			t.Fatalf("%s cannot connect", role)
		}
		return l
	}
	stays := connect("bl", w.secrets)
	for _, c := range []struct {
		name    string
		clients []*listener
		end     func() error
	}{
		{"the key is revoked", []*listener{connect("ven1", w.secrets), connect("ven1", w.tokens)}, func() error {
			_, err := w.operator.RevokeKey(t.Context(), w.keys["ven1"])
			return err
		}},
		{"the organization is suspended", []*listener{connect("foreign", w.secrets)}, func() error {
			_, err := w.operator.UpdateOrganization(t.Context(), "other", client.OrganizationFields{Suspended: &yes})
			return err
		}},
	} {
		must(t, c.end())
		for _, l := range c.clients {
			select {
			case <-l.lost:
			case <-time.After(patience / 4):
				t.Errorf("a client stays connected after %s", c.name)
			}
		}
	}
	if !stays.IsConnectionOpen() {
		t.Error("a client with a valid key is disconnected")
	}
}

// TestMQTT_Subscriptions checks that more clients can subscribe than the 1,000 that the
// server allows by default.
func TestMQTT_Subscriptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT)
	topics := map[string]byte{}
	for i := range 50 { // the server allows 63 for each client
		topics[fmt.Sprint("openadr3/acme/all/programs/", i)] = 1
	}
	for n := range 21 {
		l, _ := w.connect(w.keys["bl"], w.tokens["bl"])
		token := l.SubscribeMultiple(topics, nil).(*paho.SubscribeToken)
		if !token.WaitTimeout(patience) || token.Error() != nil {
			t.Fatalf("client %d has not subscribed: %v", n, token.Error())
		}
		for topic, qos := range token.Result() {
			if qos != 1 {
				t.Fatalf("client %d: the subscription of %s has the code %#x", n, topic, qos)
			}
		}
	}
}

// TestMQTT_Mosquitto runs mosquitto_sub, named by GRIDHOOK_MOSQUITTO_SUB, over TLS. It
// gets the retained event and the next change. A client without rights gets neither.
func TestMQTT_Mosquitto(t *testing.T) {
	t.Parallel()
	program := os.Getenv("GRIDHOOK_MOSQUITTO_SUB")
	if program == "" {
		t.Skip("GRIDHOOK_MOSQUITTO_SUB does not name a client")
	}
	w := newWorld(t, withMQTT, withTLS(t))
	at, err := url.Parse(w.broker().uri)
	must(t, err)
	subscriber := func(user, password, topic string) *exec.Cmd {
		return exec.CommandContext(t.Context(), program, "-h", at.Hostname(), "-p", at.Port(), "--cafile", w.app.TLS.Certificate,
			"-u", user, "-P", password, "-t", topic, "-q", "1", "-F", "%r %p", "-C", "2", "-W", "120")
	}
	tomorrow := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=ev", "").list()[1]["id"]
	// Of today's and tomorrow's event, tomorrow's is the last.
	w.comesLate("ven2", "programs/ev/events", func(c callback) bool { return c.Object["id"] == tomorrow })
	sub := subscriber(w.keys["ven1"], w.tokens["ven1"], "openadr3/acme/public/programs/ev/events/+")
	out, err := sub.StdoutPipe()
	must(t, err)
	must(t, sub.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	line := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("mosquitto_sub ended: %v", sub.Wait())
		}
		_, body, _ := strings.Cut(lines.Text(), " ")
		w.document.checkNotification(t, []byte(body))
		return lines.Text()
	}
	if first := line(); !strings.HasPrefix(first, `1 {"objectType":"EVENT","operation":"CREATE"`) {
		t.Errorf("the first message is %s", first)
	}
	w.imports(`{"resource":"ratePlan","organizationId":"acme","id":"ev","tariff":` + strings.Replace(tariff, "0.25", "0.5", 1) + `}`)
	if next := line(); !strings.HasPrefix(next, `0 {"objectType":"EVENT","operation":"UPDATE"`) || !strings.Contains(next, "0.5") {
		t.Errorf("the second message is %s", next)
	}
	must(t, sub.Wait())
	for name, c := range map[string]struct {
		user, password, topic, says string
	}{
		"another topic":        {w.keys["ven1"], w.tokens["ven1"], "openadr3/acme/all/events/+", "All subscription requests were denied"},
		"another organization": {w.keys["foreign"], w.tokens["foreign"], "openadr3/acme/public/programs/ev/events/+", "All subscription requests were denied"},
		"another's token":      {w.keys["ven2"], w.tokens["ven1"], "openadr3/acme/public/programs/ev/events/+", "not authorised"}, //nolint:misspell // Mosquitto's text
	} {
		said, err := subscriber(c.user, c.password, c.topic).CombinedOutput()
		if strings.Contains(string(said), "objectType") || !strings.Contains(string(said), c.says) {
			t.Errorf("%s: the output is %q, %v, want %q", name, said, err, c.says)
		}
	}
}
