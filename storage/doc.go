// Package storage defines the entities that Gridhook stores (organizations, keys, homes,
// rate plans, devices, endpoints and so on). It provides the only way to read and write
// them.
//
// A write goes to the log of record. The log has one subject per entity, keeps the last
// value and compares revisions before a write. A write returns when it is durable in the
// log and the local replica has applied it. A read uses the replica alone.
//
// The log and the replica are interfaces. Package replica implements the replica in
// bbolt. Package events/jetstream implements the log in NATS JetStream.
//
// Package storage may import pricing and nothing above it.
package storage
