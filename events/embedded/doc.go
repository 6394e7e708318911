// Package embedded runs nats-server inside the process, for deployments on one machine.
// By default it opens no port: the process connects to it in memory.
package embedded
