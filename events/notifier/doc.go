// Package notifier sees what endpoints must be told of beside price signals, and
// puts a notice of it: that a trigger has come to its end, as the ledger shows it,
// and that an endpoint was disabled, as the store shows it. It disables endpoints
// that fail for longer than their retry policy bears.
//
// It may import events and storage.
package notifier
