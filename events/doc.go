// Package events owns the nouns that travel: the trigger that a partner asks
// for, the slices that a worker walks, the retries that wait, the receipts that
// say what became of each home, and the bodies of the webhooks.
//
// Package jetstream, one step inside, moves them over NATS JetStream; package
// embedded runs the server in the process; package ledger folds triggers and
// receipts into progress and the delivery log.
//
// events may import storage and pricing, and nothing above it.
package events
