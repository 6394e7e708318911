// Package scheduler runs schedules: it accepts an organization's triggers at the
// scheduled times. Each run is made once, by any process of the fleet.
//
// It may import events and storage.
package scheduler
