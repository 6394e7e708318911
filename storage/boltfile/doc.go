// Package boltfile opens the bbolt files of materialized views. Such a file is a
// cache of a stream: it is written without fsync, it is sealed so that damage
// shows at the next opening, and a damaged one is set aside to be rebuilt.
package boltfile
