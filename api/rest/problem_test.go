package rest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// TestPublicProblem: what was not confirmed in time may have been stored, and is not
// said to be undone.
func TestPublicProblem(t *testing.T) {
	mine := &Problem{Code: "MINE"}
	explained := errors.New("explained")
	explain := func(err error) *Problem {
		if errors.Is(err, explained) {
			return mine
		}
		return nil
	}
	for _, c := range []struct {
		err  error
		want *Problem
	}{
		{storage.ErrUnavailable, ErrUnavailable},
		{fmt.Errorf("%w: %w", storage.ErrUnavailable, context.DeadlineExceeded), errOutcomeUnknown},
		{fmt.Errorf("%w: %w", storage.ErrUnavailable, errors.New("no responders")), ErrUnavailable},
		{context.DeadlineExceeded, errTimeout},
		{fmt.Errorf("home: %w", storage.ErrNotFound), ErrNotFound},
		{fmt.Errorf("wrapped: %w", mine), mine},
		{explained, mine},
		{errors.New("a fault"), errInternal},
	} {
		if got := PublicProblem(c.err, explain); got != c.want {
			t.Errorf("%v is shown as %v, want %v", c.err, got, c.want)
		}
	}
}
