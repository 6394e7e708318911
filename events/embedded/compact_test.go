package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/gridhook/gridhook/events/embedded"
)

// Compact keeps what a server shows of its streams, and no byte of replaced and deleted
// messages.
func TestCompact(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(t.Context(), 6*patience)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// contents describes everything that the server shows.
	contents := func(s *embedded.Server) (text string) {
		nc, js := connect(t, s)
		defer nc.Close()
		streams := js.ListStreams(ctx)
		for info := range streams.Info() {
			text += fmt.Sprintln(info.Config.Name, info.Config.Subjects, info.State.FirstSeq, info.State.LastSeq, info.State.Msgs, info.State.Consumers)
			stream, err := js.Stream(ctx, info.Config.Name)
			must(err)
			for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
				if m, err := stream.GetMsg(ctx, seq); err == nil {
					text += fmt.Sprintln(m.Sequence, m.Subject, m.Header, string(m.Data), m.Time.UnixNano())
				}
			}
			for consumer := range stream.ListConsumers(ctx).Info() {
				text += fmt.Sprintln(consumer.Name, consumer.AckFloor.Stream, consumer.NumPending)
			}
		}
		must(streams.Err())
		return text
	}

	dir := t.TempDir()
	s := start(t, dir)
	nc, js := connect(t, s)
	log, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log.>"}, MaxMsgsPerSubject: 1})
	must(err)
	for i := range 20 {
		_, err := js.Publish(ctx, fmt.Sprintf("log.%d", i%5), fmt.Appendf(nil, "version %d.", i/5+1))
		must(err)
	}
	must(log.DeleteMsg(ctx, 20))
	consumer, err := log.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "reader", AckPolicy: jetstream.AckExplicitPolicy})
	must(err)
	m, err := consumer.Next()
	must(err)
	must(m.DoubleAck(ctx))
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "TASKS", Subjects: []string{"wait.>", "due.>"}, Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	must(err)
	due := time.Now().Add(5 * time.Second)
	_, err = js.PublishMsg(ctx, &nats.Msg{Subject: "wait.1", Header: nats.Header{
		jetstream.ScheduleHeader: {"@at " + due.UTC().Format(time.RFC3339)}, jetstream.ScheduleTargetHeader: {"due.1"},
	}})
	must(err)
	want := contents(s)
	nc.Close()
	stop(t, s)

	fresh := filepath.Join(t.TempDir(), "fresh")
	var lines bytes.Buffer
	must(embedded.Compact(ctx, embedded.Options{Dir: dir, StartTimeout: patience, Log: slog.New(slog.NewJSONHandler(&lines, nil))}, fresh))
	if line := regexp.MustCompile(`"msg":"stream copied","stream":"[^"]+","ms":\d+}`); !line.Match(lines.Bytes()) {
		t.Errorf("no line %s in the log:\n%s", line, &lines)
	}
	blocks, err := filepath.Glob(filepath.Join(fresh, "jetstream", "*", "streams", "LOG", "msgs", "*.blk"))
	must(err)
	for _, path := range blocks {
		text, err := os.ReadFile(path) //nolint:gosec // of the test itself
		must(err)
		if bytes.Contains(text, []byte("version 1.")) || !bytes.Contains(text, []byte("version 4.")) {
			t.Errorf("%s has a replaced message, or lacks the last", path)
		}
	}
	s = start(t, fresh)
	defer stop(t, s)
	if got := contents(s); got != want {
		t.Errorf("the copy has\n%s\nwant\n%s", got, want)
	}
	nc, js = connect(t, s)
	defer nc.Close()
	worker, err := js.CreateConsumer(ctx, "TASKS", jetstream.ConsumerConfig{FilterSubject: "due.>"})
	must(err)
	if _, err := worker.Next(jetstream.FetchMaxWait(patience)); err != nil {
		t.Errorf("the scheduled message is not due: %v", err)
	}
}

// A store beyond its limit can be compacted. The limit may have been lowered.
func TestCompact_BeyondLimit(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir, folder := t.TempDir(), t.TempDir()
	s := start(t, dir)
	nc, js := connect(t, s)
	for _, name := range []string{"S", "T"} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}, MaxBytes: 1 << 20})
		if err == nil {
			_, err = js.Publish(t.Context(), name, make([]byte, 200<<10))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	nc.Close()
	stop(t, s)
	o := embedded.Options{Dir: dir, MaxStore: 300 << 10, StartTimeout: patience, Log: slog.New(slog.DiscardHandler)}
	if err := embedded.Compact(t.Context(), o, folder); err != nil {
		t.Fatal(err)
	}
	s = start(t, folder)
	defer stop(t, s)
	if usage, err := s.Usage(); err != nil || usage.Used < 400<<10 {
		t.Errorf("the copy has %+v, %v", usage, err)
	}
}
