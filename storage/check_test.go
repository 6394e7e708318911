package storage_test

import (
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestLocation_Names checks that a time zone names a place and is the same on every
// machine.
func TestLocation_Names(t *testing.T) {
	for name, want := range map[string]bool{
		"America/Chicago": true, "UTC": true, "Etc/GMT+5": true,
		"": false, "Local": false, "localtime": false, "Factory": false, "posixrules": false, "posix/America/Chicago": false,
		"right/America/Chicago": false, "../UTC": false,
		"America//Chicago": false, "Europe/././Berlin": false, "./right/UTC": false, "America/../UTC": false, "America/Chicago/": false, "/UTC": false, "Nowhere/Town": false,
	} {
		if _, ok := storage.Location(name); ok != want {
			t.Errorf("Location(%q) is %t, want %t", name, ok, want)
		}
	}
}

// TestHome_Timezone checks that a home has a canonical time zone.
func TestHome_Timezone(t *testing.T) {
	for name, want := range map[string]bool{
		"": true, "UTC": true, "America/Chicago": true, "America/Indiana/Knox": true, "Pacific/Honolulu": true,
		"EST5EDT": false, "GMT": false, "US/Pacific": false, "Cuba": false, "Zulu": false, "Canada/Eastern": false,
	} {
		h := storagetest.Home("org", "home", "plan")
		h.Timezone = name
		if err := storage.Validate(h); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
