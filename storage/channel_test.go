package storage_test

import (
	"testing"

	"github.com/gridhook/gridhook/storage"
)

func TestChannel_Wants(t *testing.T) {
	for name, tt := range map[string]struct {
		events  []string
		enabled bool
		event   string
		want    bool
	}{
		"all":                     {nil, true, storage.EventQuotaNear, true},
		"selected":                {[]string{storage.EventQuotaNear}, true, storage.EventQuotaNear, true},
		"not selected":            {[]string{storage.EventEndpointFailing}, true, storage.EventQuotaNear, false},
		"paused":                  {nil, false, storage.EventQuotaNear, false},
		"an event for endpoints":  {nil, true, storage.EventTriggerCompleted, false},
		"an event for both kinds": {nil, true, storage.EventEndpointDisabled, true},
	} {
		c := storage.Channel{ChannelSettings: storage.ChannelSettings{Events: tt.events, Enabled: tt.enabled}}
		if got := c.Wants(tt.event); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMaskAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://hooks.example/services/T0/secret?sig=secret": "https://hooks.example/********",
		"https://hooks.example:8443":                          "https://hooks.example:8443/********",
		"not a URL":                                           "not a URL",
	} {
		if got := storage.MaskAddress(storage.ChannelSlack, address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
	if got := storage.MaskAddress(storage.ChannelEmail, "ops@acme.example"); got != "ops@acme.example" {
		t.Errorf("an email address is shown as %s", got)
	}
}
