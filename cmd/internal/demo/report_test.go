package demo

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/receiver"
)

// The report has no prices of a plan without webhooks: with few homes not every plan has one.
func TestReport_PlansWithWebhooks(t *testing.T) {
	var a arrivals
	e := receiver.Event{Verified: true, At: time.Now()}
	e.Data.HomeID, e.Data.Prices = "home_0000001", []float64{0.3, 0.2}
	a.add(e)
	var r Report
	a.sumUp(&r, time.Now())
	if len(r.Plans) != 1 || r.Plans[0].Webhooks != 1 || r.Plans[0].Lowest != 0.2 {
		t.Errorf("the plans are %+v", r.Plans)
	}
}
