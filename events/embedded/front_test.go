package embedded_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
	"go.uber.org/goleak"

	"github.com/gridhook/gridhook/events/embedded"
)

// dial opens a connection with small buffers.
func (w *mqttWorld) dial() net.Conn {
	w.Helper()
	conn, err := new(net.Dialer).DialContext(w.Context(), "tcp", fmt.Sprint("127.0.0.1:", w.server.MQTTPort()))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = conn.Close() })
	if err := errors.Join(conn.(*net.TCPConn).SetReadBuffer(4<<10), conn.SetReadDeadline(time.Now().Add(patience))); err != nil {
		w.Fatal(err)
	}
	return conn
}

// raw returns the connection of a client that sends and reads its own packets.
func (w *mqttWorld) raw(org, id string) net.Conn {
	w.Helper()
	return w.login(w.dial(), id, org, "any")
}

func (w *mqttWorld) login(conn net.Conn, id, user, password string) net.Conn {
	w.Helper()
	if err := connectAs(conn, id, user, password); err != nil {
		w.Fatal(err)
	}
	return conn
}

// connectAs sends a CONNECT packet and waits for the response.
func connectAs(conn net.Conn, id, user, password string) error {
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion, p.CleanSession = "MQTT", 4, true
	p.ClientIdentifier, p.UsernameFlag, p.PasswordFlag, p.Username, p.Password = id, true, true, user, []byte(password)
	if err := p.Write(conn); err != nil {
		return err
	}
	_, err := packets.ReadPacket(conn)
	return err
}

// deaf connects a client that subscribes to filters and does not read.
func (w *mqttWorld) deaf(org, id string, filters ...string) {
	w.Helper()
	w.subscribe(w.raw(org, id), filters...)
}

func (w *mqttWorld) subscribe(conn net.Conn, filters ...string) {
	w.Helper()
	w.ask(conn, filters...)
	if _, err := packets.ReadPacket(conn); err != nil { // SUBACK
		w.Fatal(err)
	}
}

// ask sends a SUBSCRIBE packet.
func (w *mqttWorld) ask(conn net.Conn, filters ...string) {
	w.Helper()
	p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	p.MessageID, p.Topics, p.Qoss = 1, filters, make([]byte, len(filters))
	if err := p.Write(conn); err != nil {
		w.Fatal(err)
	}
}

// ended reports whether the server has closed a connection, within the connection's deadline.
func ended(conn net.Conn) bool {
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// publication returns a PUBLISH packet with a body of size bytes.
func publication(qos byte, size int) []byte {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Qos, p.Retain, p.MessageID, p.Payload = "t/price", qos, true, 1, make([]byte, size)
	var b bytes.Buffer
	_ = p.Write(&b) // writing to a buffer never fails
	return b.Bytes()
}

// The server closes the connection of a client at a packet that it does not allow.
func TestMQTT_Packets(t *testing.T) {
	for name, test := range map[string]struct {
		sent    []byte
		timeout time.Duration
	}{
		"too large":     {[]byte{0x82, 0x81, 0x80, 0x04}, time.Hour}, // only the header of 64 KiB and a byte
		"endless size":  {[]byte{0x82, 0x81, 0x81, 0x81, 0x81, 0x81}, 50 * time.Millisecond},
		"unfinished":    {publication(0, 1000)[:500], 50 * time.Millisecond},
		"only its kind": {[]byte{0x30}, 50 * time.Millisecond},
		"stored by QoS": {publication(2, 10), time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w := newMQTTWorld(t, func(o *embedded.Options) { o.MQTT.Timeout = test.timeout })
			conn := w.raw("acme", "device")
			if _, err := conn.Write(test.sent); err != nil {
				t.Fatal(err)
			}
			if !ended(conn) {
				t.Error("the connection is open")
			}
		})
	}
}

// The server drops the publication of a client and confirms it. The client stays connected, also
// if it is idle for longer than the timeout of a packet.
func TestMQTT_RefusedPublication(t *testing.T) {
	w := newMQTTWorld(t, func(o *embedded.Options) { o.MQTT.Timeout = 50 * time.Millisecond })
	witness, conn := w.device("acme", "witness", "t/#"), w.raw("acme", "liar")
	if _, err := conn.Write(publication(1, 6<<10)); err != nil {
		t.Fatal(err)
	}
	p, err := packets.ReadPacket(conn)
	if _, ok := p.(*packets.PubackPacket); err != nil || !ok {
		t.Fatalf("the response is %v, %v", p, err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil || ended(conn) {
		t.Errorf("the connection ended, %v", err)
	}
	w.publish("acme", "t/price", "true")
	w.wants(witness, "true")
}

// The server closes a connection without a TLS handshake.
func TestMQTT_NoHandshake(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	w := newMQTTWorld(t, func(o *embedded.Options) {
		o.MQTT.Timeout, o.MQTT.TLS = 50*time.Millisecond, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}
	})
	if !ended(w.dial()) {
		t.Error("the connection is open")
	}
	w.publish("acme", "t/price", "by this process, without TLS")
}

// slots limits connections.
type slots chan struct{}

func (s slots) take(net.Addr) (release func(), ok bool) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, true
	default:
		return nil, false
	}
}

// The server closes a connection beyond the limit. An ended connection makes room.
func TestMQTT_ConnectionLimit(t *testing.T) {
	taken := make(slots, 2)
	w := newMQTTWorld(t, func(o *embedded.Options) { o.MQTT.Take = taken.take })
	first := w.raw("acme", "first")
	w.raw("acme", "second")
	if !ended(w.dial()) {
		t.Error("a connection beyond the limit is open")
	}
	w.publish("acme", "t/price", "by this process, beyond the limit")
	_ = first.Close()
	select {
	case taken <- struct{}{}:
		<-taken
	case <-time.After(patience):
		t.Fatal("an ended connection still counts")
	}
	w.raw("acme", "third")
}

// A client that does not read for the timeout loses its connection.
func TestMQTT_SlowClient(t *testing.T) {
	taken := make(slots, 1)
	w := newMQTTWorld(t, func(o *embedded.Options) { o.MQTT.Take, o.MQTT.Timeout = taken.take, 50*time.Millisecond })
	w.deaf("acme", "deaf", "t/#")
	w.publish("acme", "t/price", strings.Repeat("x", 4<<20))
	select {
	case taken <- struct{}{}:
		<-taken
	case <-time.After(8 * time.Second): // nats-server itself would close it after 10
		t.Error("the connection is open")
	}
}

// An organization has a maximum number of clients and of subscriptions with QoS 1.
func TestMQTT_MaxClients(t *testing.T) {
	const most = 2
	w := newMQTTWorld(t, func(o *embedded.Options) { o.MQTT.MaxClients = most })
	d := w.device("acme", "first", "t/#")
	w.device("acme", "second", "t/#")
	if token := w.client("acme", "third").Connect(); !token.WaitTimeout(patience) || token.Error() == nil {
		t.Errorf("client %d of an organization is connected", most+1)
	}
	w.device("other", "first", "t/#")
	granted := 2
	for n := range 20 {
		topic := fmt.Sprint("t/", n)
		token := d.Subscribe(topic, 1, nil).(*paho.SubscribeToken)
		if !token.WaitTimeout(patience) {
			t.Fatal("the broker does not answer")
		}
		if token.Result()[topic] == 1 {
			granted++
		}
	}
	if granted < most || granted > most+8 { // 8 for the server itself
		t.Errorf("%d subscriptions with QoS 1", granted)
	}
}

// journal is a log in memory.
type journal struct {
	mu sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Buffer.Write(p)
}

func (j *journal) has(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.String(), text)
}

// A client's error is no error of the server. Its line has the client's address, not the front's.
func TestMQTT_ClientErrors(t *testing.T) {
	var log journal
	w := newMQTTWorld(t, func(o *embedded.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if c := w.client("", "stranger").Connect(); !c.WaitTimeout(patience) || c.Error() == nil {
		t.Errorf("a client without a user connects, %v", c.Error())
	}
	w.device("acme", "curious", "t/#").Subscribe("u/#", 1, nil).WaitTimeout(patience)
	for _, problem := range []string{"stranger", "Subscription Violation"} {
		for began := time.Now(); !log.has(problem); runtime.Gosched() {
			if time.Since(began) > patience {
				t.Fatalf("no line about %s", problem)
			}
		}
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, " mid:") && (!strings.Contains(line, "level=WARN") || !strings.HasSuffix(line, "client=127.0.0.1\n")) {
			t.Errorf("the line of a client is %s", line)
		}
		if strings.Contains(line, "level=ERROR") {
			t.Errorf("a client's error is an error of the server: %s", line)
		}
	}
}

// Clients that do not read are disconnected, except this process's own. They do not stop messages
// to another client of their organization.
func TestMQTT_UnreadMessages(t *testing.T) {
	var log journal
	w := newMQTTWorld(t, func(o *embedded.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for i := range 8 {
		w.deaf("acme", fmt.Sprint("deaf", i), "t/#")
	}
	own, err := w.server.DialMQTT(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	user, password := w.server.Credentials("acme")
	w.subscribe(w.login(own, "own", user, password), "t/#", "t/+") // has more to read than each other client
	reader, large := w.device("acme", "reader", "t/#"), strings.Repeat("x", 1<<20)
	first := time.Now()
	for n := range 16 {
		if !w.room("acme") {
			t.Fatal("no room")
		}
		text := fmt.Sprint(n, large)
		w.publish("acme", "t/price", text)
		w.wants(reader, text)
	}
	for began := time.Now(); !log.has("MQTT clients disconnected, they do not read their messages\" org=acme clients="); runtime.Gosched() {
		if time.Since(began) > 8*time.Second { // later nats-server itself disconnects them
			t.Fatal("128 MiB of unread messages, and no client is disconnected")
		}
	}
	if len(reader.lost) > 0 {
		t.Error("the client that reads is disconnected")
	}
	busy := time.Since(first) > 8*time.Second // nats-server itself disconnects a client that has not read for 10 s
	if err := own.SetReadDeadline(time.Now().Add(time.Second)); err != nil || ended(own) && !busy {
		t.Errorf("this process's own client is disconnected, %v", err)
	}
}

// heap returns the size of the heap in bytes, without the memory of pools.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Clients that subscribe to retained messages and do not read take a limited memory.
func TestMQTT_UnreadRetained(t *testing.T) {
	w := newMQTTWorld(t)
	for i := range 24 {
		w.publish("acme", fmt.Sprint("t/", i), strings.Repeat("x", 256<<10))
	}
	before := heap()
	for i := range 16 { // 18 MiB each
		conn := w.dial()
		for connectAs(conn, fmt.Sprint("deaf", i), "acme", "any") != nil { // a busy machine exceeds nats-server's timeout for a login
			conn = w.dial()
		}
		w.ask(conn, "t/#", "t/+", "t/+/#") // it may be disconnected at once
	}
	took := uint64(0)
	for began := time.Now(); time.Since(began) < 8*time.Second; { // later nats-server itself disconnects them
		if took = max(heap(), before) - before; took < 100<<20 {
			return
		}
	}
	t.Errorf("%d MiB of unread messages", took>>20)
}

// A restart closes the connections and keeps the port. A stop leaves nothing behind.
func TestMQTT_Ends(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := &mqttWorld{T: t, dir: t.TempDir()}
	var err error
	if w.server, err = embedded.Start(w.options()); err != nil {
		t.Fatal(err)
	}
	port, conn := w.server.MQTTPort(), w.raw("acme", "device")
	if err := w.server.Restart(patience); err != nil {
		t.Fatal(err)
	}
	if !ended(conn) || w.server.MQTTPort() != port {
		t.Errorf("the connection is open, or port %d is now %d", port, w.server.MQTTPort())
	}
	conn = w.raw("acme", "device")
	idle := w.dial()
	stop(t, w.server)
	if !ended(conn) || !ended(idle) {
		t.Error("a connection is open after the stop")
	}
}
