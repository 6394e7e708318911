// Package events defines the messages of the system: triggers, slices of a walk, retries,
// receipts and the bodies of the webhooks. A receipt records the outcome of each
// delivery.
//
// Subpackage jetstream moves them over NATS JetStream. Subpackage embedded runs the
// server in the process. Subpackage ledger folds triggers and receipts into progress and
// the delivery log.
//
// events may import storage and pricing, and nothing above it.
package events
