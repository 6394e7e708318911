// Package storage owns the nouns that Gridhook remembers (organizations, keys,
// homes, rate plans, devices, endpoints and so on) and the one way to read and
// write them.
//
// A write goes to the log of record (one subject per entity, last value kept,
// compare-and-set by revision) and is answered when it is durable there and the
// local replica has applied it. A read comes from the replica alone. The log and
// the replica are interfaces here; package replica keeps the replica in bbolt,
// and events/jetstream keeps the log in NATS JetStream.
//
// storage may import pricing and nothing above it.
package storage
