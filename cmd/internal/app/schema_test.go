package app_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

// stored returns a data folder whose stream STATE another Gridhook has written.
// messages alternates subjects and their contents.
func stored(t *testing.T, messages ...string) (data string) {
	t.Helper()
	data = t.TempDir()
	log := slog.New(slog.DiscardHandler)
	s, err := embedded.Start(embedded.Options{Dir: filepath.Join(data, "nats"), StartTimeout: 2 * time.Minute, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := jetstream.Connect(t.Context(), "", jetstream.Options{Replicas: 1, TriggersAge: 100 * time.Hour, ReceiptsAge: 100 * time.Hour}, log, s.Option())
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect("", s.Option())
	if err != nil {
		t.Fatal(err)
	}
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(messages); i += 2 {
		if _, err := js.Publish("gridhook.state."+messages[i], []byte(messages[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	nc.Close()
	if err := errors.Join(conn.Close(), s.Stop(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSchema_NewerRefused checks that an older binary refuses the data of a newer
// binary, in one sentence, and changes nothing.
func TestSchema_NewerRefused(t *testing.T) {
	data := stored(t, "schema."+storage.Shared+".state", `{"v":3,"at":1780000000000,"value":{"id":"state","version":3}}`)
	for range 2 {
		_, err := app.Start(t.Context(), app.Local(data, slog.New(slog.DiscardHandler)))
		if !errors.Is(err, jetstream.ErrNewerSchema) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "schema 3, and this version reads up to schema 2: start the newer version") {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestSchema_NewerTakesOver checks that a running process ends when a newer version
// takes over the state.
func TestSchema_NewerTakesOver(t *testing.T) {
	a := start(t)
	write := storage.Write{Ref: storage.SchemaRef(), At: time.Now(), Value: []byte(`{"id":"state","version":2}`)}
	if _, err := a.StateLog().AppendBatch(t.Context(), []storage.Write{write}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("the schema is missing: %v", err)
	}
	if err := a.PublishState(t.Context(), "schema."+storage.Shared+".state", `{"v":3,"at":1,"value":{}}`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := a.Wait(ctx); !errors.Is(err, jetstream.ErrNewerSchema) {
		t.Errorf("the process ended with %v", err)
	}
}
