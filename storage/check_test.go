package storage_test

import (
	"errors"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// TestLocation_Names: a time zone is a place's, and the same on every machine.
func TestLocation_Names(t *testing.T) {
	for name, want := range map[string]bool{
		"America/Chicago": true, "UTC": true, "Etc/GMT+5": true,
		"": false, "Local": false, "localtime": false, "Factory": false, "posixrules": false, "posix/America/Chicago": false,
		"right/America/Chicago": false, "../UTC": false, "Nowhere/Town": false,
	} {
		if _, ok := storage.Location(name); ok != want {
			t.Errorf("Location(%q) is %t, want %t", name, ok, want)
		}
	}
}

// TestOrganization_Name: characters that turn the direction of text make a terminal show
// another name than the one that is stored.
func TestOrganization_Name(t *testing.T) {
	for name, want := range map[string]bool{
		"Acme": true, "שלום": true, "Zoë 東京": true,
		"Acme\u202e": false, "\u2066Acme\u2069": false, "a\u202ab": false,
	} {
		o := storage.Organization{ID: "acme", Name: name}
		o.OrganizationID = storage.Shared
		err := o.Validate()
		var invalid *storage.InvalidError
		if (err == nil) != want || err != nil && !errors.As(err, &invalid) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}
