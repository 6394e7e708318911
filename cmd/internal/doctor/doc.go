// Package doctor checks an installation of Gridhook: its settings, its data folder and
// its NATS. Each finding describes a fact and, if it is a problem, a remedy.
package doctor
