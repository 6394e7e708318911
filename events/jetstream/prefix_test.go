package jetstream

import (
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func TestPrefix_Name(t *testing.T) {
	t.Parallel()
	tests := []struct {
		prefix         Prefix
		standard, name string
	}{
		{"", "GRIDHOOK_STATE", "GRIDHOOK_STATE"},
		{"gridhook", "gridhook.state.>", "gridhook.state.>"},
		{"north", "GRIDHOOK_STATE", "NORTH_STATE"},
		{"north", "gridhook.*.wait.>", "north.*.wait.>"},
		{"north", "gridhook.state.home.gridhook.gridhook", "north.state.home.gridhook.gridhook"},
		{"gridhook-eu_2", "gridhook.breakers", "gridhook-eu_2.breakers"},
		{"gridhook-eu_2", "GRIDHOOK_DEAD", "GRIDHOOK-EU_2_DEAD"},
		{"north", "$MQTT_rmsgs", "$MQTT_rmsgs"},
		{"north", ">", ">"},
	}
	for _, test := range tests {
		name := test.prefix.Name(test.standard)
		if name != test.name || test.prefix.standard(name) != test.standard {
			t.Errorf("with the prefix %q, %s is %s, and back %s", test.prefix, test.standard, name, test.prefix.standard(name))
		}
		if again := test.prefix.Name(name); again != name {
			t.Errorf("with the prefix %q, the name %s is renamed to %s", test.prefix, name, again)
		}
	}
}

// TestConfigs_Prefix checks that no stream or subject has a name without the prefix.
func TestConfigs_Prefix(t *testing.T) {
	t.Parallel()
	o := streamOptions
	standard := append(Configs(o), Trial(o))
	o.Prefix, o.Tags = "north", []string{"ssd", "eu"}
	for i, cfg := range append(Configs(o), Trial(o)) {
		back := jetstream.StreamConfig{Name: o.Prefix.standard(cfg.Name)}
		if i < len(standard)-1 && back.Name != standard[i].Name || back.Name == cfg.Name {
			t.Errorf("the stream %s is named %s", standard[i].Name, cfg.Name)
		}
		for _, subject := range cfg.Subjects {
			if o.Prefix.standard(subject) == subject {
				t.Errorf("the stream %s has the subject %s", cfg.Name, subject)
			}
		}
		if cfg.Placement == nil || !slices.Equal(cfg.Placement.Tags, o.Tags) {
			t.Errorf("the stream %s has the placement %+v", cfg.Name, cfg.Placement)
		}
	}
}

// TestConnect_Domain writes, reads and restores streams in a JetStream domain.
func TestConnect_Domain(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{
		ServerName: "n1", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, JetStreamDomain: "hub", StoreDir: t.TempDir(), MaxPayload: 8 << 20,
	})
	must(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	o := streamOptions
	o.Domain = "hub"
	c, err := Connect(within(t), "", o, discard, nats.InProcessServer(s))
	must(t, err)
	defer c.Close()
	_, err = c.Accept(within(t), events.Trigger{ID: "trg_1", OrganizationID: "acme"})
	must(t, err)
	content := Content{Stream: triggersStream}
	var stored []Raw
	last, err := c.Copy(within(t), content, func(m Raw) error { stored = append(stored, m); return nil })
	must(t, err)
	must(t, c.Remove(within(t), []string{triggersStream}, o))
	must(t, c.RestoreStream(within(t), content, o, Extent{First: 1, Last: last, Messages: 1, Bytes: 1}, func(yield func(Raw, error) bool) {
		for _, m := range stored {
			if !yield(m, nil) {
				return
			}
		}
	}))
	if newest, err := c.Newest(within(t), "acme"); err != nil || newest.ID != "trg_1" {
		t.Errorf("the newest trigger is %+v, %v", newest, err)
	}
	if _, err := c.StateLog().Read(within(t), storage.OrganizationRef("acme")); err != nil {
		t.Error(err)
	}

	o.Domain = "elsewhere"
	if other, err := Connect(within(t), "", o, discard, nats.InProcessServer(s)); err == nil {
		_ = other.Close()
		t.Error("another domain is accepted")
	}
}
