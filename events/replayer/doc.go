// Package replayer retries deliveries that were given up. It retries one delivery by its
// message's identifier, or all deliveries of an endpoint since a time, with progress.
//
// It may import events and storage.
package replayer
