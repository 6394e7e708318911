package rest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// A server error is an error in the log. A client error is not.
func TestObserve_LogLevels(t *testing.T) {
	for _, tt := range []struct {
		status int
		err    error
		want   string
	}{
		{200, nil, "INFO"},
		{404, storage.ErrNotFound, "INFO"},
		{503, storage.ErrUnavailable, "ERROR"},
		{500, errors.New("a fault"), "ERROR"},
		{500, &panicError{cause: context.Canceled}, "ERROR"},
	} {
		var lines bytes.Buffer
		s := &Server{Deps: Deps{Log: slog.New(slog.NewTextHandler(&lines, nil))}}
		request := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/x", nil)
		s.record(request, &outcome{call: &Call{}, status: tt.status, err: tt.err})
		if !strings.Contains(lines.String(), "level="+tt.want+" ") {
			t.Errorf("%d %v: %s", tt.status, tt.err, lines.String())
		}
	}
}
