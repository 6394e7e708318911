package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// A partner triggers the webhooks of its homes and reads their outcomes.
func ExampleClient_Trigger() {
	server := httptest.NewServer(http.HandlerFunc(exampleServer))
	defer server.Close()
	ctx := context.Background()

	c := client.Client{BaseURL: server.URL, Key: "ghk_key_01JZ_0123456789abcdef"}
	trigger, err := c.Trigger(ctx, client.TriggerRequest{IdempotencyKey: "2026-07-01"})
	if err != nil {
		fmt.Println(err)
		return
	}
	progress, err := c.GetTrigger(ctx, trigger.TriggerID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trigger.Status, trigger.Homes, "homes")
	fmt.Println(progress.Status, progress.Outcomes[events.OutcomeDelivered], "delivered")
	// Output:
	// ACCEPTED 2 homes
	// COMPLETED 2 delivered
}

// A validation error names the wrong fields and what to do.
func ExampleError() {
	server := httptest.NewServer(http.HandlerFunc(exampleServer))
	defer server.Close()

	c := client.Client{BaseURL: server.URL, Key: "ghk_key_01JZ_0123456789abcdef"}
	_, err := c.PriceSignal(context.Background(), "home-1", client.Window{})
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.CodeValidationFailed {
		for _, f := range refused.FieldErrors {
			fmt.Println(f.Field, f.Message)
		}
	}
	// Output:
	// ratePlanId The home has no rate plan.
}

// exampleServer responds like a server.
func exampleServer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/webhook/price_signal/trigger":
		_, _ = io.WriteString(w, `{"triggerId":"trg_1","status":"ACCEPTED","homes":2}`)
	case "/v1/webhook/price_signal/trigger/trg_1/get":
		_, _ = io.WriteString(w, `{"triggerId":"trg_1","status":"COMPLETED","homes":2,"walked":2,"outcomes":{"DELIVERED":2}}`)
	default:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error_code":"VALIDATION_FAILED","message":"Request validation failed.",
			"field_errors":[{"field":"ratePlanId","message":"The home has no rate plan."}]}`)
	}
}
