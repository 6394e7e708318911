package api

import (
	"errors"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// resolveWindow is the window that two timestamps mean; zero ones were not
// given. What is wrong with it goes to the problems.
func resolveWindow(start, end storage.Time, now time.Time, p *problems) pricing.Window {
	w, err := pricing.ResolveWindow(given(start), given(end), now)
	var wrong *pricing.WindowError
	if errors.As(err, &wrong) {
		p.add(windowFields(wrong))
	}
	return w
}

// given is nil for a timestamp that was left out or null.
func given(t storage.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t.Time
}
