package storage_test

import (
	"testing"

	"github.com/gridhook/gridhook/storage"
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
