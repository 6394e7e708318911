package backup_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/backup"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

const patience = time.Minute

var (
	options = jetstream.Options{Replicas: 1, TriggersAge: 100 * time.Hour, ReceiptsAge: 50 * time.Hour}
	discard = slog.New(slog.DiscardHandler)
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is an empty NATS for the test.
func server(t *testing.T) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{Dir: t.TempDir(), StartTimeout: patience, Log: discard})
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop(patience)) })
	return s
}

func connect(t *testing.T, s *embedded.Server) *jetstream.Conn {
	t.Helper()
	c, err := jetstream.Connect(t.Context(), "", options, discard, s.Option())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func bare(t *testing.T, s *embedded.Server) *jetstream.Conn {
	t.Helper()
	c, err := jetstream.ConnectBare("", options, discard, s.Option())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func home(i int, value string) storage.Write {
	return storage.Write{
		Ref: storage.Ref{Kind: storage.KindHome, Org: "acme", ID: fmt.Sprintf("h%03d", i)},
		At:  time.UnixMilli(1_700_000_000_000).UTC(), Value: []byte(`{"name":"` + value + `"}`),
	}
}

// key returns a new key pair.
func key(t *testing.T) (private, public string) {
	t.Helper()
	private, public, err := backup.NewKey()
	must(t, err)
	return private, public
}

func putRetries(t *testing.T, c *jetstream.Conn, retries []events.Retry) {
	t.Helper()
	_, err := c.PutRetries(t.Context(), retries)
	must(t, err)
}

// back makes a backup and opens it.
func back(t *testing.T, c *jetstream.Conn) *backup.Backup {
	t.Helper()
	private, public := key(t)
	path := filepath.Join(t.TempDir(), "b")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	must(t, err)
	must(t, backup.Write(t.Context(), c, f, backup.Options{
		Recipients: []string{public}, Gridhook: "v1.2.3", Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
	}))
	must(t, f.Close())
	b, err := backup.Open(path, private)
	must(t, err)
	return b
}

// records returns all records of STATE, by reference.
func records(t *testing.T, c *jetstream.Conn) map[storage.Ref]storage.Record {
	t.Helper()
	all := map[storage.Ref]storage.Record{}
	copied(t, c, func(ctx context.Context, apply func([]storage.Record) error) error {
		return c.StateLog().Tail(ctx, 0, apply)
	}, func(r storage.Record) bool {
		all[r.Ref] = r
		state, err := c.StateLog().State(t.Context())
		must(t, err)
		return r.Revision >= state.Last
	})
	return all
}

// copied follows a log until enough returns true.
func copied[T any](t *testing.T, _ *jetstream.Conn, follow func(context.Context, func([]T) error) error, enough func(T) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found := false
	must(t, follow(ctx, func(batch []T) error {
		for _, v := range batch {
			found = found || enough(v)
		}
		if found {
			cancel()
		}
		return nil
	}))
	if !found {
		t.Fatal("timeout: the condition does not hold")
	}
}

func trigger(id string) events.Trigger {
	start := time.Unix(1_700_000_100, 0).UTC() // a quarter past an hour
	return events.Trigger{
		ID: id, OrganizationID: "acme", CreatedAt: storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)},
		Start: storage.Time{Time: start}, End: storage.Time{Time: start.Add(24 * time.Hour)},
	}
}

func retry(id string, due time.Time) events.Retry {
	return events.Retry{Trigger: trigger(id), Sequence: 7, RetryInputs: events.RetryInputs{EndpointID: "ep_1", Homes: []events.RetryHome{{HomeID: "h1"}}}, Attempt: 2, Round: 1, DueAt: storage.Time{Time: due}}
}

// A restore gives the same data: revisions with their gaps, times, waiting messages, and
// the next sequence of each log.
func TestRestore_RoundTrip(t *testing.T) {
	c := connect(t, server(t))
	log := c.StateLog()
	revisions := map[int]uint64{}
	for round := range 3 {
		for i := range 20 {
			if round > 0 && i%3 != 0 {
				continue // updates leave gaps
			}
			w := home(i, fmt.Sprint("round ", round))
			w.Expect = revisions[i]
			var err error
			revisions[i], err = log.Append(t.Context(), w)
			must(t, err)
		}
	}
	for i := range 5 {
		_, err := c.Accept(t.Context(), trigger(fmt.Sprint("trg_", i)))
		must(t, err)
	}
	must(t, c.PutReceipt(t.Context(), events.Receipt{TriggerID: "trg_1", OrganizationID: "acme", Key: "0"}))
	putRetries(t, c, []events.Retry{retry("trg_2", time.Now()), retry("trg_3", time.Now().Add(time.Hour))})
	task := events.Task{TaskName: events.TaskName{Kind: events.TaskRetry, OrganizationID: "acme", ID: "msg_1"}, DueAt: storage.Time{Time: time.Now().Add(time.Hour)}}
	must(t, c.PutTask(t.Context(), task))
	_, err := c.PutKnown(t.Context(), "acme", "ep_1", 0, events.Known{Signals: map[string]string{"h1": "x"}})
	must(t, err)
	for i := range 3 {
		_, err := c.PutNotice(t.Context(), events.Notice{ID: fmt.Sprint("evt_", i), OrganizationID: "acme", Data: []byte("{}")})
		must(t, err)
	}
	if got := first(t, c.ConsumeNotices); got.ID != "evt_0" {
		t.Errorf("the first notice is %s", got.ID)
	}
	before := records(t, c)

	b := back(t, c)
	if b.Manifest.Gridhook != "v1.2.3" || b.Manifest.Schema != storage.SchemaVersion || !b.Manifest.CreatedAt.Equal(time.Unix(1_800_000_000, 0)) {
		t.Errorf("the manifest is %+v", b.Manifest)
	}
	other := server(t)
	must(t, b.Restore(t.Context(), bare(t, other), options, false))
	c = connect(t, other)
	equal := func(a, b storage.Record) bool {
		return a.Revision == b.Revision && a.First == b.First && a.At.Equal(b.At) && bytes.Equal(a.Value, b.Value)
	}
	if after := records(t, c); !maps.EqualFunc(before, after, equal) {
		t.Errorf("STATE has\n%v\nwant\n%v", after, before)
	}
	if revision, err := c.StateLog().Append(t.Context(), home(99, "new")); err != nil || revision != revisions[18]+1 {
		t.Errorf("the next revision of STATE is %d, %v, want %d", revision, err, revisions[18]+1)
	}
	if sequence, err := c.Accept(t.Context(), trigger("trg_new")); err != nil || sequence != 6 {
		t.Errorf("the next sequence of TRIGGERS is %d, %v, want 6", sequence, err)
	}
	if has, err := c.HasReceipt(t.Context(), "acme", "trg_1", "0"); !has || err != nil {
		t.Errorf("the receipt was restored: %v, %v", has, err)
	}
	if names, err := c.Tasks(t.Context(), events.TaskRetry); !names[task.TaskName] || err != nil {
		t.Errorf("the tasks are %v, %v", names, err)
	}
	if known, err := c.Known(t.Context(), "acme", "ep_1", 0); known.Signals["h1"] != "x" || err != nil {
		t.Errorf("known is %v, %v", known, err)
	}
	// The due retry is delivered, the other waits. Only the new trigger begins a walk,
	// because the others have receipts.
	if got := first(t, c.ConsumeRetries); got.Trigger.ID != "trg_2" || got.Sequence != 7 {
		t.Errorf("the delivered retry is %+v", got)
	}
	if got := first(t, c.ConsumeTriggers); got.ID != "trg_new" {
		t.Errorf("the trigger that begins is %s", got.ID)
	}
	if got := first(t, c.ConsumeNotices); got.ID != "evt_1" {
		t.Errorf("the first notice is %s, and evt_0 was handled before", got.ID)
	}
	if f, err := c.NewInspector().Look(t.Context(), 0, 0); err != nil || f.Depth.RetriesWaiting != 1 || f.Depth.Unstarted != 0 {
		t.Errorf("there waits %+v, %v", f.Depth, err)
	}
}

// A backup of more than one file for each stream has every message once. A restore reports its
// progress.
func TestRestore_SeveralFiles(t *testing.T) {
	const batches, each, size = 20, 100, 4 << 10
	c := connect(t, server(t))
	for batch := range batches {
		var writes []storage.Write
		for i := range each {
			writes = append(writes, home(batch*each+i, strings.Repeat(string(rune('a'+batch)), size)))
		}
		_, err := c.StateLog().AppendBatch(t.Context(), writes)
		must(t, err)
	}
	before := records(t, c)
	b := back(t, c)
	state := b.Streams[slices.IndexFunc(b.Streams, func(s backup.Stream) bool { return s.Name == "GRIDHOOK_STATE" })]
	if len(state.Files) < 2 || state.Messages != batches*each || b.Messages() != state.Messages || state.Bytes < batches*each*size {
		t.Errorf("the backup has %d messages, and STATE %d files, %d messages of %d bytes", b.Messages(), len(state.Files), state.Messages, state.Bytes)
	}
	var progress []uint64
	b.Progress = func(stream string, messages uint64) {
		if progress = append(progress, messages); stream != state.Name {
			t.Errorf("%d messages are of %s", messages, stream)
		}
	}
	other := server(t)
	must(t, b.Restore(t.Context(), bare(t, other), options, false))
	c = connect(t, other)
	equal := func(a, b storage.Record) bool { return a.Revision == b.Revision && bytes.Equal(a.Value, b.Value) }
	if after := records(t, c); len(after) != batches*each || !maps.EqualFunc(before, after, equal) {
		t.Errorf("%d records are restored, and %d were saved", len(after), len(before))
	}
	if !slices.Equal(progress, []uint64{1000, 2000}) {
		t.Errorf("the progress is reported at %v", progress)
	}
}

// A log whose last record has expired continues at the same revision after a restore. A
// trigger of that revision would wait for a later one.
func TestRestore_LastRecordExpired(t *testing.T) {
	s := server(t)
	o := options
	o.DeletionsAge = time.Second
	c, err := jetstream.Connect(t.Context(), "", o, discard, s.Option())
	must(t, err)
	defer func() { _ = c.Close() }()
	gone := home(2, "")
	gone.Deleted, gone.Forget, gone.Value = true, true, nil
	last, err := c.StateLog().AppendBatch(t.Context(), []storage.Write{home(1, "stays"), gone})
	must(t, err)
	for newest := last; newest == last; <-time.After(50 * time.Millisecond) {
		newest, err = c.StateLog().Newest(t.Context())
		must(t, err)
	}
	b := back(t, c)
	other := server(t)
	must(t, b.Restore(t.Context(), bare(t, other), options, false))
	if restored, err := connect(t, other).StateLog().State(t.Context()); restored.Last != last || err != nil {
		t.Errorf("STATE ends at %d, %v, want %d", restored.Last, err, last)
	}
}

// first takes one message of a queue.
func first[T any](t *testing.T, consume func(ctx, taking context.Context, slots int, handle func(context.Context, T, events.Taken) error) error) (got T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	taken := false
	must(t, consume(t.Context(), ctx, 1, func(_ context.Context, v T, _ events.Taken) error {
		got, taken = v, true
		cancel()
		return nil
	}))
	if !taken {
		t.Fatal("no message arrived")
	}
	return got
}

// The copy has entities that change while it is made. A log that keeps only the last
// value may have removed the old one before the copy reached it, with the new one after
// the copy's end.
func TestBackup_ChangingEntity(t *testing.T) {
	const homes = 300
	c := connect(t, server(t))
	log := c.StateLog()
	for i := range homes {
		_, err := log.Append(t.Context(), home(i, "first"))
		must(t, err)
	}
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	var changing sync.WaitGroup
	changing.Go(func() {
		revisions := map[int]uint64{}
		for round := 0; stop.Err() == nil; round++ {
			i := (round * 7) % homes
			w := home(i, fmt.Sprint("round ", round))
			if w.Expect = revisions[i]; w.Expect == 0 {
				w.Expect = uint64(i + 1)
			}
			revision, err := log.Append(t.Context(), w)
			if err != nil {
				t.Error(err)
				return
			}
			revisions[i] = revision
		}
	})
	for range 20 {
		seen := map[string]bool{}
		content := jetstream.Contents()[len(jetstream.Contents())-1]
		if content.Stream != "GRIDHOOK_STATE" {
			t.Fatal("STATE must be copied last: everything refers to it")
		}
		_, err := c.Copy(t.Context(), content, func(m jetstream.Raw) error {
			seen[m.Subject] = true
			return nil
		})
		must(t, err)
		if len(seen) != homes {
			t.Fatalf("the copy has %d homes of %d", len(seen), homes)
		}
	}
	cancel()
	changing.Wait()
}

// A retry or a task may be put and acknowledged between the copies of its queue and of
// the receipts, which refer to it. The backup has it.
func TestBackup_AcknowledgedMessages(t *testing.T) {
	c := connect(t, server(t))
	var noted, tasks []string
	var mu sync.Mutex
	stop, err := c.WatchQueues(func(stream string, m jetstream.Raw) {
		mu.Lock()
		defer mu.Unlock()
		if stream == "GRIDHOOK_TASKS" {
			tasks = append(tasks, m.Subject)
			return
		}
		noted = append(noted, m.Subject)
	})
	must(t, err)
	putRetries(t, c, []events.Retry{retry("trg_1", time.Now())})
	first(t, c.ConsumeRetries)
	putRetries(t, c, []events.Retry{retry("trg_2", time.Now().Add(time.Hour))})
	task := events.Task{TaskName: events.TaskName{Kind: events.TaskNotice, OrganizationID: "acme", ID: "msg_1"}, DueAt: storage.Time{Time: time.Now().Add(time.Hour)}}
	must(t, c.PutTask(t.Context(), task))
	must(t, c.PutNewTask(t.Context(), task)) // which is not stored
	must(t, stop())
	putRetries(t, c, []events.Retry{retry("trg_3", time.Now().Add(time.Hour))})
	if len(noted) != 2 || !strings.Contains(noted[0], "trg_1") || !strings.Contains(noted[1], "trg_2") {
		t.Errorf("the noted messages are %q", noted)
	}
	if len(tasks) != 1 || !strings.Contains(tasks[0], "msg_1") {
		t.Errorf("the noted tasks are %q", tasks)
	}
}

// during is a file that calls do once, when a backup has written the first stream.
type during struct {
	*os.File

	size int
	do   func()
}

const firstStream = 512 << 10 // more than what is buffered

func (d *during) Write(b []byte) (int, error) {
	if d.size += len(b); d.size > firstStream/2 && d.do != nil {
		d.do()
		d.do = nil
	}
	return d.File.Write(b)
}

// A restored backup has a retry that arrived after the backup had begun, and left its queue
// before the queue was copied.
func TestRestore_RetryDuringBackup(t *testing.T) {
	c := connect(t, server(t))
	large := make([]byte, firstStream)
	_, _ = rand.Read(large)
	body, err := json.Marshal(large)
	must(t, err)
	must(t, c.PutTask(t.Context(), events.Task{TaskName: events.TaskName{Kind: events.TaskNotice, OrganizationID: "acme", ID: "msg_1"}, DueAt: storage.Time{Time: time.Now().Add(time.Hour)}, Body: body}))
	private, public := key(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "b"))
	must(t, err)
	w := &during{File: f, do: func() {
		putRetries(t, c, []events.Retry{retry("trg_1", time.Now())})
		first(t, c.ConsumeRetries)
	}}
	must(t, backup.Write(t.Context(), c, w, backup.Options{Recipients: []string{public}, Now: time.Now}))
	must(t, f.Close())
	if w.do != nil {
		t.Fatal("no retry arrived during the backup")
	}
	b, err := backup.Open(f.Name(), private)
	must(t, err)
	s := server(t)
	must(t, b.Restore(t.Context(), bare(t, s), options, false))
	if got := first(t, connect(t, s).ConsumeRetries); got.Trigger.ID != "trg_1" {
		t.Errorf("the restored retry is %+v", got)
	}
}

// Every stream is copied, except those that follow from others, and the dead letters,
// which belong to this installation's operator.
func TestBackup_EveryStream(t *testing.T) {
	var copied, made []string
	for _, content := range jetstream.Contents() {
		copied = append(copied, content.Stream)
	}
	for _, cfg := range jetstream.Configs(options) {
		if !slices.Contains([]string{"GRIDHOOK_WORK", "GRIDHOOK_WALKS", "GRIDHOOK_DEAD"}, cfg.Name) {
			made = append(made, cfg.Name)
		}
	}
	slices.Sort(copied)
	slices.Sort(made)
	if !slices.Equal(copied, made) {
		t.Errorf("copied %v, created %v", copied, made)
	}
	var order []string
	for _, content := range jetstream.Contents() {
		order = append(order, strings.TrimPrefix(content.Stream, "GRIDHOOK_"))
	}
	if got := strings.Join(order, " "); !strings.HasSuffix(got, "RETRIES RECEIPTS TRIGGERS NOTICES STATE") {
		t.Errorf("order is %s, want each stream before the streams that refer to it", got)
	}
}

func TestRestore_NonEmptyTarget(t *testing.T) {
	s := server(t)
	c := connect(t, s)
	_, err := c.StateLog().Append(t.Context(), home(1, "mine"))
	must(t, err)
	empty := back(t, connect(t, server(t)))
	err = empty.Restore(t.Context(), bare(t, s), options, false)
	if err == nil || !strings.Contains(err.Error(), "the streams of Gridhook already exist") {
		t.Errorf("got %v", err)
	}
	if state, err := c.StateLog().State(t.Context()); state.Last != 1 || err != nil {
		t.Errorf("STATE is at %d, %v", state.Last, err)
	}
}

// following follows STATE until it is stopped, and returns once it has read a record.
func following(t *testing.T, c *jetstream.Conn) (stop func(), ended <-chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	read, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- c.StateLog().Tail(ctx, 0, func([]storage.Record) error {
			close(read)
			return nil
		})
	}()
	<-read
	return stop, done
}

// A restore does not replace the streams below a process that follows them.
func TestRestore_InUse(t *testing.T) {
	s := server(t)
	c := connect(t, s)
	_, err := c.StateLog().Append(t.Context(), home(1, "mine"))
	must(t, err)
	b := back(t, c)
	stop, ended := following(t, c)
	if err := b.Restore(t.Context(), bare(t, s), options, true); !errors.Is(err, backup.ErrInUse) {
		t.Errorf("the restore returned %v", err)
	}
	if state, err := c.StateLog().State(t.Context()); state.Last != 1 || err != nil {
		t.Errorf("STATE is at %d, %v", state.Last, err)
	}
	stop()
	must(t, <-ended)
	must(t, b.Restore(t.Context(), bare(t, s), options, true))
}

// A restore waits for a process that is just stopping.
func TestRestore_AfterStop(t *testing.T) {
	s := server(t)
	c := connect(t, s)
	_, err := c.StateLog().Append(t.Context(), home(1, "mine"))
	must(t, err)
	b := back(t, c)
	stop, ended := following(t, c)
	time.AfterFunc(200*time.Millisecond, stop)
	must(t, b.Restore(t.Context(), bare(t, s), options, true))
	must(t, <-ended)
}

// A backup with an unknown stream replaces nothing.
func TestRestore_UnknownStream(t *testing.T) {
	s := server(t)
	c := connect(t, s)
	_, err := c.StateLog().Append(t.Context(), home(1, "mine"))
	must(t, err)
	b := back(t, c)
	b.Streams = append(b.Streams, backup.Stream{Name: "GRIDHOOK_FUTURE"})
	if err := b.Restore(t.Context(), bare(t, s), options, true); !errors.Is(err, backup.ErrNotReadable) {
		t.Errorf("got %v", err)
	}
	if state, err := c.StateLog().State(t.Context()); state.Last != 1 || err != nil {
		t.Errorf("STATE is at %d, %v", state.Last, err)
	}
}

// An empty stream continues its sequence: a new trigger must have a higher sequence than
// the triggers of older retries.
func TestBackup_Empty(t *testing.T) {
	b := back(t, connect(t, server(t)))
	s := server(t)
	must(t, b.Restore(t.Context(), bare(t, s), options, false))
	if sequence, err := connect(t, s).Accept(t.Context(), trigger("trg_1")); sequence != 1 || err != nil {
		t.Errorf("the first trigger is at %d, %v", sequence, err)
	}
}

// The file has no readable content.
func TestBackup_Encrypted(t *testing.T) {
	c := connect(t, server(t))
	_, err := c.StateLog().Append(t.Context(), home(1, strings.Repeat("verysecret", 10)))
	must(t, err)
	_, public := key(t)
	var out bytes.Buffer
	must(t, backup.Write(t.Context(), c, &out, backup.Options{Recipients: []string{public}, Now: time.Now}))
	for _, word := range []string{"verysecret", "GRIDHOOK_STATE", "manifest"} {
		if bytes.Contains(out.Bytes(), []byte(word)) {
			t.Errorf("the file has %q", word)
		}
	}
	for _, wrong := range [][]string{nil, {""}, {"age1nothing"}} {
		if err := backup.CheckRecipients(wrong); err == nil {
			t.Errorf("%q are accepted as public keys", wrong)
		}
	}
}

// A backup of a newer format or schema is refused.
func TestRestore_NewerFormat(t *testing.T) {
	for _, test := range []struct {
		change map[string]any
		says   string
	}{
		{map[string]any{"version": 2}, "it has format 2, and this version reads up to format 1: use a newer Gridhook"},
		{map[string]any{"schema": 99}, "its state has schema 99"},
		{map[string]any{"format": "other"}, "the file is no backup of Gridhook"},
	} {
		manifest := map[string]any{"format": "gridhook-backup", "version": 1, "schema": 1}
		maps.Copy(manifest, test.change)
		text, err := json.Marshal(manifest)
		must(t, err)
		private, public := key(t)
		path := filepath.Join(t.TempDir(), "b")
		pack(t, path, public, "manifest.json", string(text))
		if _, err := backup.Open(path, private); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("got %v, want %s", err, test.says)
		}
	}
	private, public := key(t)
	path := filepath.Join(t.TempDir(), "b")
	pack(t, path, public, "manifest.json", `{"format":"gridhook-backup","version":1}`, "streams/GRIDHOOK_STATE/00001.jsonl", "")
	if _, err := backup.Open(path, private); err == nil || !strings.Contains(err.Error(), "it is truncated") {
		t.Errorf("without its end: %v", err)
	}
	pack(t, path, public, "manifest.json", `{"format":"gridhook-backup","version":1}`, "end.json", `{"sha256":{"manifest.json":"00"}}`)
	if _, err := backup.Open(path, private); err == nil || !strings.Contains(err.Error(), "a checksum does not match") {
		t.Errorf("with a wrong sum: %v", err)
	}
}
