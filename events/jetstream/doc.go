// Package jetstream moves Gridhook's messages over NATS JetStream: the log of record
// (STATE), the log of triggers, the queue of slices, the waiting retries, and the
// receipts. It behaves the same on the embedded server and on a cluster.
package jetstream
