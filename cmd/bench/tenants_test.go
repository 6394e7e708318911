package main

import (
	"strings"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func TestLimitOf(t *testing.T) {
	for text, want := range map[string]string{
		(&storage.LimitError{Limit: storage.Limit{Max: 1, Setting: storage.SettingMaxState}, Org: greedy}).Error(): "max-state",
		events.Quota{Waiting: 1}.Check(greedy, events.Usage{Waiting: 1}).Error():                                   "max-waiting",
		"The API key has sent too many requests.":                                                                  "rate-limit",
		"The API key lacks the scope \"trigger\".":                                                                 "",
	} {
		if got := limitOf(text); got != want {
			t.Errorf("limitOf(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	refused := map[string]int{"max-homes": 1}
	if err := missing(operatorLimits, refused); err == nil || !strings.Contains(err.Error(), "has not reached max-sources") {
		t.Errorf("without max-sources, the error is %v", err)
	}
	refused["max-sources"] = 1
	if err := missing(operatorLimits, refused); err != nil {
		t.Errorf("with all limits, the error is %v", err)
	}
}
