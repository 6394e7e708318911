package rest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// TestPublicProblem checks that the response to an unconfirmed write says that it may
// have been stored.
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
			t.Errorf("the problem of %v is %v, want %v", c.err, got, c.want)
		}
	}
}
