// Package scheduler makes the runs of schedules: it triggers an organization's
// webhooks when a schedule says so, once each, whoever of the fleet is there.
//
// It may import events and storage.
package scheduler
