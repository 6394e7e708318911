package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/savings"
)

// estimating returns an organization with homes and an endpoint that accepts
// everything. One home has a device to estimate.
func estimating(t *testing.T, homes int) *client.Client {
	t.Helper()
	a := startWith(t, func(o *app.Options) { o.AllowPrivate = true })
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(sink.Close)
	operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
	lines := []string{
		`{"resource":"organization","id":"acme","name":"Acme"}`,
		`{"resource":"ratePlan","id":"plan","tariff":{"energyratestructure":[[{"rate":0.1}],[{"rate":0.4}]],` + schedule + `}}`,
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep","url":"` + sink.URL + `"}`,
	}
	for i := range homes {
		lines = append(lines, fmt.Sprintf(`{"resource":"home","organizationId":"acme","id":"home_%d","ratePlanId":"plan","zipcode":"60614"}`, i))
	}
	lines = append(lines, `{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev","homeId":"home_0","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`)
	imported, err := operator.Import(t.Context(), strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || imported.Failed > 0 {
		t.Fatalf("%+v %v", imported, err)
	}
	return operator.For("acme")
}

// schedule has a high price from 16:00 to 20:00.
var schedule = func() string {
	day := "[" + strings.Repeat("0,", 16) + "1,1,1,1,0,0,0,0]"
	year := "[" + strings.Repeat(day+",", 11) + day + "]"
	return `"energyweekdayschedule":` + year + `,"energyweekendschedule":` + year
}()

// deliver triggers and waits until all homes are notified. It returns the duration.
func deliver(t *testing.T, c *client.Client, homes int) time.Duration {
	t.Helper()
	began := time.Now()
	trigger, err := c.Trigger(t.Context(), client.TriggerRequest{})
	if err != nil {
		t.Fatal(err)
	}
	err = sandbox.Poll(t.Context(), 5*time.Millisecond, func() (bool, error) {
		progress, err := c.GetTrigger(t.Context(), trigger.TriggerID)
		if n := progress.Outcomes[events.OutcomeDelivered]; err == nil && progress.Status == events.TriggerCompleted && n != homes {
			err = fmt.Errorf("%d of %d homes were told: %v", n, homes, progress.Outcomes)
		}
		return progress.Status == events.TriggerCompleted, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// TestEstimates_YieldToDeliveries requests 100 estimates of a year at once and
// triggers while they run. The homes are notified while most of the estimates still
// wait. The tests of the scheduler prove how long an estimate rests.
func TestEstimates_YieldToDeliveries(t *testing.T) {
	const homes, asked = 500, 100
	c := estimating(t, homes)
	deliver(t, c, homes) // fills the caches
	alone := deliver(t, c, homes)
	began := time.Now()
	if _, err := c.EstimateSavings(t.Context(), "home_0", client.SavingsRequest{Request: savings.Request{Type: savings.Annual}}); err != nil {
		t.Fatal(err)
	}
	one := time.Since(began)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var estimates sync.WaitGroup
	var ended atomic.Int32
	first := make(chan error, asked)
	for range asked {
		estimates.Go(func() {
			_, err := c.EstimateSavings(ctx, "home_0", client.SavingsRequest{Request: savings.Request{Type: savings.Annual}})
			ended.Add(1)
			first <- err
		})
	}
	if err := <-first; err != nil { // the other estimates wait
		t.Fatal(err)
	}
	beside := deliver(t, c, homes)
	left := asked - ended.Load()
	cancel() // ends the waiting estimates
	estimates.Wait()
	t.Logf("%d homes were notified in %s, and in %s during %d estimates of %s on %d processors; %d estimates were left",
		homes, alone.Round(time.Millisecond), beside.Round(time.Millisecond), asked, one.Round(time.Millisecond), runtime.GOMAXPROCS(0), left)
	if left == 0 {
		t.Error("the homes were notified after all estimates")
	}
}
