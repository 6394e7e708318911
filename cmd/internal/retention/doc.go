// Package retention tests that the stored data stays bounded. It simulates a year in
// compressed time on a real embedded server.
package retention
