// Package replica stores the materialized view of the log of record in bbolt.
//
// The file is a cache. It is written without fsync and may be deleted whenever the
// process is down. A damaged file, or a file of another log, is set aside and rebuilt
// from the log. Within a process a revision names one write: an open replica does not
// change from one log to another.
package replica
