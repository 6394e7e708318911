// Command go-client finds the cheapest hour of a home, triggers the webhooks of all homes,
// and waits until each is delivered.
//
//	GRIDHOOK_API_URL=http://127.0.0.1:8080 GRIDHOOK_API_KEY=ghk_... go run ./docs/examples/go-client home-1
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := &client.Client{BaseURL: os.Getenv("GRIDHOOK_API_URL"), Key: os.Getenv("GRIDHOOK_API_KEY")}
	home, name := "home-1", time.Now().UTC().Format("2006-01-02T15") // once an hour
	if len(os.Args) > 1 {
		home = os.Args[1]
	}
	if len(os.Args) > 2 {
		name = os.Args[2]
	}
	if err := run(ctx, c, home, name); err != nil {
		fmt.Fprintln(os.Stderr, explain(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, c *client.Client, home, name string) error {
	signal, err := c.PriceSignal(ctx, home, client.Window{})
	if err != nil {
		return err
	}
	from, price := cheapestHour(signal.Data)
	fmt.Printf("the cheapest hour of %s begins at %s: $%.5f a kWh\n", home, from.Format(time.RFC3339), price)
	progress, err := triggerAll(ctx, c, name)
	if err != nil {
		return err
	}
	fmt.Printf("%d of %d homes were walked: %v\n", progress.Walked, progress.Homes, progress.Outcomes)
	return nil
}

// cheapestHour returns the start and the price, in $/kWh, of the cheapest hour.
func cheapestHour(data []client.Interval) (from time.Time, price float64) {
	const quarters = 4
	for i := 0; i+quarters <= len(data); i++ {
		mean := 0.0
		for _, quarter := range data[i : i+quarters] {
			mean += quarter.Import / quarters
		}
		if from.IsZero() || mean < price {
			from, price = data[i].StartTime.Time, mean
		}
	}
	return from, price
}

// triggerAll triggers the webhooks of all homes, once for each name, and returns the
// completed trigger.
func triggerAll(ctx context.Context, c *client.Client, name string) (events.Progress, error) {
	accepted, err := c.Trigger(ctx, client.TriggerRequest{IdempotencyKey: name})
	if err != nil {
		return events.Progress{}, err
	}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		progress, err := c.GetTrigger(ctx, accepted.TriggerID)
		if err != nil || progress.Status == events.TriggerCompleted {
			return progress, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return progress, ctx.Err()
		}
	}
}

// explain returns an error with its recovery action.
func explain(err error) string {
	var refused *client.Error
	if errors.As(err, &refused) {
		return fmt.Sprintf("%s: %s %s", refused.Code, refused, refused.RecoveryAction)
	}
	return err.Error()
}
