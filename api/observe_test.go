package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// What goes wrong is an error in the log, also when the caller did not wait for the
// answer. Only what was given up for that reason is none.
func TestLevels(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	abandoned := fmt.Errorf("%w: %w", storage.ErrUnavailable, context.Canceled)
	for _, tt := range []struct {
		ctx    context.Context
		status int
		err    error
		want   string
	}{
		{t.Context(), 200, nil, "INFO"},
		{t.Context(), 404, storage.ErrNotFound, "INFO"},
		{t.Context(), 503, storage.ErrUnavailable, "ERROR"},
		{t.Context(), 503, abandoned, "ERROR"}, // by ourselves
		{gone, 503, abandoned, "INFO"},
		{gone, 503, noTurn(gone), "INFO"},
		{gone, 503, storage.ErrUnavailable, "ERROR"},
		{gone, 500, errors.New("a fault"), "ERROR"},
		{gone, 500, &panicError{cause: context.Canceled}, "ERROR"},
	} {
		var lines bytes.Buffer
		s := &server{Deps: Deps{Log: slog.New(slog.NewTextHandler(&lines, nil))}}
		request := httptest.NewRequestWithContext(tt.ctx, "POST", "/v1/x", nil)
		s.record(request, &outcome{call: &call{}, status: tt.status, err: tt.err})
		if !strings.Contains(lines.String(), "level="+tt.want+" ") {
			t.Errorf("%d %v with the caller gone %t: %s", tt.status, tt.err, tt.ctx.Err() != nil, lines.String())
		}
	}
}
