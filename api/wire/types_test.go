package wire_test

import (
	"slices"
	"testing"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// The API accepts every event type that the store accepts.
func TestEnums_EventType(t *testing.T) {
	t.Parallel()
	if got, want := wire.Enums()["EventType"], storage.EventTypes(); !slices.Equal(got, want) {
		t.Errorf("the event types are %q, want %q", got, want)
	}
}
