// Package notifier creates the notices of completed triggers, which the ledger shows, and
// of disabled endpoints, which the store shows. It disables endpoints that fail for
// longer than their retry policy allows.
//
// It may import events and storage.
package notifier
