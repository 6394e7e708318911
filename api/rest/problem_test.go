package rest

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// TestPublicProblem_Names checks that the error of an entity names it.
func TestPublicProblem_Names(t *testing.T) {
	plan := storage.KindRatePlan.Ref("acme", "flat")
	for want, err := range map[string]error{
		`The rate plan "flat" exists already.`:                                       &storage.ExistsError{Ref: plan},
		`There is no rate plan "flat" in organization "acme".`:                       &storage.NotFoundError{Ref: plan},
		`There is no channel "ch_1" of the operator.`:                                &storage.NotFoundError{Ref: storage.KindChannel.Ref(storage.Shared, "ch_1")},
		`There is no delivery "msg_1" of the operator.`:                              &storage.NotFoundError{Ref: storage.Ref{Kind: KindDelivery, Org: storage.Shared, ID: "msg_1"}},
		`There is no rate plan "flat".`:                                              &storage.NotFoundError{Ref: storage.KindRatePlan.Ref(storage.Shared, "flat")},
		`The organization "a" in the header x-gridhook-organization does not exist.`: errOrganization("a"),
	} {
		if got := PublicProblem(err, nil); got.Message != want || got.Recovery == "" {
			t.Errorf("the message is %s, want %s", got.Message, want)
		}
	}
}

// A response has at most a hundred wrong fields, and the number of all.
func TestValidation_ManyFields(t *testing.T) {
	for n, want := range map[int]int{100: 100, 101: 100} {
		p := Validation(make([]storage.FieldError, n))
		if counts := strings.Contains(p.Message, "101 fields are wrong, field_errors has the first 100"); len(p.Fields) != want || counts != (n > want) {
			t.Errorf("%d wrong fields: %d in the response, %q", n, len(p.Fields), p.Message)
		}
	}
}
