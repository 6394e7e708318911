// Package replayer takes up deliveries again that were given up: one by its
// message's identifier, or all of an endpoint since a time, with progress.
//
// It may import events and storage.
package replayer
