package rest

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// The last use of a key is stored within a minute, and once more when the process stops.
func TestLastUsed_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _, _ := storagetest.NewStore(time.Now)
		key, _ := storage.NewKey("org", time.Now())
		storagetest.Put(t, store, &key)
		u := NewLastUsed(store, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- u.Run(ctx) }()
		synctest.Wait()
		used := func(want time.Time) {
			t.Helper()
			got, err := storage.Get[storage.KeyUse](store, storage.KindKeyUse.Ref("org", key.ID))
			if err != nil || !got.LastUsedAt.Equal(want) {
				t.Errorf("the last use is %s (%v), want %s", got.LastUsedAt, err, want)
			}
		}
		first := time.Now()
		u.note(&key, first)
		<-time.After(flushInterval)
		synctest.Wait()
		used(first)
		second := time.Now()
		u.note(&key, second)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		used(second)
	})
}
