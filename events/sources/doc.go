// Package sources runs sources: it fetches prices, alerts and tariffs at the scheduled
// times and stores them. Each run is made by one process of the fleet.
//
// It may import events and storage. The formats are in package pricing/feed.
package sources
