package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/gridhook/gridhook/storage"
)

func TestRetryUnavailable_UntilResponse(t *testing.T) {
	away, refused := fmt.Errorf("%w: no leader", storage.ErrUnavailable), errors.New("too old for this state")
	for name, c := range map[string]struct {
		answers []error // the last error repeats
		asked   int
		want    error
	}{
		"it answers":              {[]error{nil}, 1, nil},
		"it answers in the end":   {[]error{away, away, nil}, 3, nil},
		"it refuses":              {[]error{away, refused}, 2, refused},
		"starting takes too long": {[]error{away}, 5, storage.ErrUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 9*guardEvery/2)
			defer cancel()
			a, asked := &App{Options: Options{Log: slog.New(slog.DiscardHandler)}}, 0
			err := a.retryUnavailable(ctx, func(context.Context) error {
				asked++
				return c.answers[min(asked, len(c.answers))-1]
			})
			if !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("%s: %v after %d attempts, want %v after %d", name, err, asked, c.want, c.asked)
			}
		})
	}
}
