package receiver

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/events/periodic"
)

// Share is a part of the whole, from 0 to 1. As a flag's value it is a fraction such as
// 0.2 or a percentage such as 20%.
type Share float64

// Set parses a share.
func (s *Share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f >= 0 && f <= 1) { //nolint:staticcheck // NaN is no share either
		return fmt.Errorf("must be a fraction such as 0.2 or a percentage such as 20%%, not %q", text)
	}
	*s = Share(f)
	return nil
}

func (s *Share) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

// Type returns the type that the help shows.
func (s *Share) Type() string { return "share" }

// Faults are the simulated faults of a receiver. They apply to deliveries that verify.
type Faults struct {
	// Hang is the share of deliveries without a response. Fail is the share with the
	// response Status, or 500 if Status is 0. Their sum is at most 1.
	Hang, Fail Share
	Status     int
	// Slow is an additional delay of every response.
	Slow time.Duration
	// Random returns a number in [0,1). If nil, math/rand is used.
	Random func() float64
}

// Check returns an error if the faults are invalid.
func (f Faults) Check() error {
	switch {
	case f.Hang+f.Fail > 1:
		return fmt.Errorf("the shares of hang (%s) and fail (%s) must be at most 1 together", f.Hang.String(), f.Fail.String())
	case f.Status != 0 && (f.Status < 300 || f.Status > 599):
		return fmt.Errorf("the status of a failure must be from 300 to 599, not %d", f.Status)
	case f.Slow < 0:
		return fmt.Errorf("the delay must not be negative: %s", f.Slow)
	}
	return nil
}

// delay waits for Slow. It returns false if ctx ends first.
func (f Faults) delay(ctx context.Context) bool {
	periodic.Sleep(ctx, f.Slow)
	return ctx.Err() == nil
}

// draw chooses the fault of one delivery: hang, or a failure's status; 0 means no
// failure.
func (f Faults) draw() (hang bool, status int) {
	random := f.Random
	if random == nil {
		random = rand.Float64
	}
	switch r := Share(random()); {
	case r < f.Hang:
		return true, 0
	case r < f.Hang+f.Fail:
		return false, cmp.Or(f.Status, http.StatusInternalServerError)
	}
	return false, 0
}
