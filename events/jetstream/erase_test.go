package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Erase removes an organization's records and waiting tasks, and nothing of another
// organization whose identifier begins the same.
func TestErase(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	tomorrow := storage.Time{Time: time.Now().Add(24 * time.Hour)}
	for _, org := range []string{"acme", "acme-2"} {
		for _, ref := range []storage.Ref{storage.OrganizationRef(org), storage.KindHome.Ref(org, "h1"), storage.KindHome.Ref(org, "h2"), storage.KindSolar.Ref(org, "h1")} {
			_, err := b.StateLog().Append(within(t), storage.Write{Ref: ref, At: time.Now(), Value: json.RawMessage(`{}`)})
			must(t, err)
		}
		must(t, b.PutTask(within(t), events.Task{TaskName: events.TaskName{Kind: events.TaskSchedule, OrganizationID: org, ID: "s1"}, DueAt: tomorrow}))
	}
	left := func(stream string) (n uint64) {
		info, err := b.streamInfo(within(t), stream)
		must(t, err)
		return info.State.Msgs
	}
	want := map[storage.Kind]int{storage.KindOrganization: 1, storage.KindHome: 2, storage.KindSolar: 1}
	got, err := b.StateLog().Erase(within(t), "acme")
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("erased %v, %v, want %v", got, err, want)
	}
	if state, tasks := left(stateStream), left(tasksStream); state != 4 || tasks != 1 {
		t.Errorf("%d records and %d tasks are left, want 4 and 1", state, tasks)
	}
	if got, err := b.StateLog().Erase(within(t), "acme"); err != nil || len(got) != 0 {
		t.Errorf("the second time it erased %v, %v", got, err)
	}
}

// A message that is gone when Erase comes to delete it is no error: a task became due, or another
// process erases the same organization.
func TestErase_MessageGone(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	for i := range 50 {
		ref := storage.KindHome.Ref("acme", fmt.Sprint("h", i))
		_, err := b.StateLog().Append(within(t), storage.Write{Ref: ref, At: time.Now(), Value: json.RawMessage(`{}`)})
		must(t, err)
	}
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			_, err := b.StateLog().Erase(within(t), "acme")
			return err
		})
	}
	must(t, group.Wait())
	if info, err := b.streamInfo(within(t), stateStream); err != nil || info.State.Msgs != 0 {
		t.Errorf("%+v, %v is left", info, err)
	}
}

// DeleteFeedback leaves no byte of a submission in the files, and keeps the others.
func TestDeleteFeedback(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(t, dir)
	for _, id := range []string{"fb_1", "fb_2"} {
		must(t, b.PutFeedback(within(t), storage.Feedback{ID: id, FeedbackForm: storage.FeedbackForm{Message: "the text of " + id}}))
	}
	must(t, b.DeleteFeedback(within(t), "fb_1"))
	if err := b.DeleteFeedback(within(t), "fb_1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the second deletion returns %v", err)
	}
	list, err := b.Feedback(within(t), "", 10)
	if err != nil || len(list) != 1 || list[0].ID != "fb_2" {
		t.Errorf("left are %+v, %v", list, err)
	}
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "GRIDHOOK_FEEDBACK", "msgs", "*.blk"))
	must(t, err)
	for _, path := range blocks {
		text, err := os.ReadFile(path) //nolint:gosec // of the test itself
		must(t, err)
		if bytes.Contains(text, []byte("the text of fb_1")) || !bytes.Contains(text, []byte("the text of fb_2")) {
			t.Errorf("%s has the deleted submission, or lacks the other", path)
		}
	}
	if len(blocks) == 0 {
		t.Error("the stream has no files")
	}
}

// The pages of feedback have every submission once, also if concurrent submissions were
// stored in another order than that of their identifiers, or the last of a page is deleted.
func TestFeedback_Pages(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	stored := []string{"fb_2", "fb_4", "fb_1", "fb_3", "fb_5"}
	for _, id := range stored {
		must(t, b.PutFeedback(within(t), storage.Feedback{ID: id}))
	}
	for limit := 1; limit <= len(stored); limit++ {
		var listed []string
		for after := ""; ; after = listed[len(listed)-1] {
			page, err := b.Feedback(within(t), after, limit)
			must(t, err)
			if len(page) == 0 {
				break
			}
			for _, f := range page {
				listed = append(listed, f.ID)
			}
		}
		if !slices.Equal(listed, stored) {
			t.Errorf("pages of %d have %q, want %q", limit, listed, stored)
		}
	}
	must(t, b.DeleteFeedback(within(t), "fb_3"))
	if page, err := b.Feedback(within(t), "fb_3", 10); err != nil || len(page) != 2 || page[0].ID != "fb_4" || page[1].ID != "fb_5" {
		t.Errorf("after a deleted submission: %+v, %v, want fb_4 and fb_5", page, err)
	}
}

// A submission that does not decode is left out of a list, and can be deleted.
func TestFeedback_DamagedSubmission(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	must(t, b.PutFeedback(within(t), storage.Feedback{ID: "fb_1"}))
	_, err := b.js.Publish(within(t), feedbackPrefix+"fb_2", []byte("garbage"))
	must(t, err)
	must(t, b.PutFeedback(within(t), storage.Feedback{ID: "fb_3"}))
	for range 2 {
		if page, err := b.Feedback(within(t), "", 2); err != nil || len(page) != 2 || page[0].ID != "fb_1" || page[1].ID != "fb_3" {
			t.Errorf("the list is %+v, %v, want fb_1 and fb_3", page, err)
		}
		if err := b.DeleteFeedback(within(t), "fb_2"); err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
	}
}

// An earlier version created STATE so that it denies deletion, which cannot be taken back.
func TestErase_StreamOfEarlierVersion(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	cfg := Configs(streamOptions)[0]
	cfg.DenyDelete = true
	_, err := b.js.UpdateStream(within(t), cfg)
	must(t, err)
	c, err := Connect(t.Context(), "", streamOptions, discard, b.server.Option())
	must(t, err)
	defer func() { must(t, c.Close()) }()
	if _, err := c.StateLog().Erase(within(t), "acme"); !errors.Is(err, storage.ErrNotErasable) {
		t.Errorf("got %v, want ErrNotErasable", err)
	}
}

// While a replica is behind, it may still count the records of a deleted organization.
func TestInspector_ReplicaBehind(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	for _, ref := range []storage.Ref{storage.KindHome.Ref("acme", "h1"), storage.KindHome.Ref("acme", "h2")} {
		_, err := b.StateLog().Append(within(t), storage.Write{Ref: ref, At: time.Now(), Value: json.RawMessage(`{}`)})
		must(t, err)
	}
	for revision, damaged := range map[uint64]bool{1: false, 2: true} {
		f, err := b.NewInspector().Look(within(t), revision, 3)
		must(t, err)
		if (f.Damage != nil) != damaged {
			t.Errorf("at revision %d of 2, with 3 records instead of 2: found %v", revision, f.Damage)
		}
	}
}
