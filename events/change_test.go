package events_test

import (
	"fmt"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// TestChange_Wants checks who is notified, and which targets they see.
func TestChange_Wants(t *testing.T) {
	event := events.Change{ObjectType: storage.OpenADREvent, Operation: events.OperationUpdate, ProgramID: "p"}
	with := func(c events.Change, change func(*events.Change)) events.Change {
		change(&c)
		return c
	}
	targeted := with(event, func(c *events.Change) { c.Targets = []string{"a", "b"} })
	report := with(event, func(c *events.Change) { c.ObjectType, c.ClientID = storage.OpenADRReport, "me" })
	program := with(event, func(c *events.Change) { c.ObjectType = storage.OpenADRProgram })
	all := []storage.OpenADRType{storage.OpenADREvent, storage.OpenADRReport, storage.OpenADRProgram}
	for name, tt := range map[string]struct {
		change       events.Change
		client       string
		business     bool
		program      string
		asked, grant []string
		operation    string
		want         string // callbacks and targets
	}{
		"an event without targets":              {change: event, want: "[0] []"},
		"another operation":                     {change: event, operation: events.OperationDelete, want: "[] []"},
		"the event's program":                   {change: event, program: "p", want: "[0] []"},
		"another program":                       {change: event, program: "q", want: "[] []"},
		"a program with any program id":         {change: program, program: "q", want: "[0] []"},
		"requested and granted":                 {change: targeted, asked: []string{"a", "c"}, grant: []string{"a", "b"}, want: "[0] [a]"},
		"requested and not granted":             {change: targeted, asked: []string{"a"}, grant: []string{"c"}, want: "[] []"},
		"granted and not requested":             {change: targeted, grant: []string{"a"}, want: "[] []"},
		"requested of an event without targets": {change: event, asked: []string{"a"}, want: "[0] []"},
		"business logic":                        {change: targeted, business: true, want: "[0] [a b]"},
		"business logic with targets":           {change: targeted, business: true, asked: []string{"b"}, want: "[0] [b]"},
		"business logic with other targets":     {change: targeted, business: true, asked: []string{"c"}, want: "[] []"},
		"the client's own report":               {change: report, client: "me", want: "[0] []"},
		"another client's report":               {change: report, client: "you", want: "[] []"},
		"business logic's view of reports":      {change: report, client: "you", business: true, want: "[0] []"},
	} {
		t.Run(name, func(t *testing.T) {
			operation := events.OperationUpdate
			if tt.operation != "" {
				operation = tt.operation
			}
			s := &storage.OpenADRObject{
				ClientID: tt.client, Parent: tt.program, Targets: tt.asked, Callbacks: []storage.Callback{{Objects: all, Operations: []string{operation}}},
			}
			granted := map[string]bool{}
			for _, g := range tt.grant {
				granted[g] = true
			}
			callbacks, shown, err := tt.change.Wants(s, &events.Subscriber{Business: tt.business, Granted: func() (map[string]bool, error) { return granted, nil }})
			if got := fmt.Sprint(callbacks, " ", shown); err != nil || got != tt.want {
				t.Errorf("%s (%v), want %s", got, err, tt.want)
			}
		})
	}
}
