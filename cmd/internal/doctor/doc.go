// Package doctor judges how a Gridhook is set up: its settings, its data folder,
// and the NATS that it is on. Each finding says what is so and, where it is not
// well, what to do.
package doctor
