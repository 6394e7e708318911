// Package jetstream moves Gridhook's nouns over NATS JetStream: the log of record
// (STATE), the log of triggers, the queue of slices, the retries that wait, and
// the receipts. It works alike on the embedded server and on a cluster.
package jetstream
