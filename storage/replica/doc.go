// Package replica keeps the materialized view of the log of record in bbolt.
//
// The file is a cache: it is written without fsync, may be deleted at any time
// the process is down, and is set aside and rebuilt from the log when it is
// damaged or belongs to another log.
package replica
