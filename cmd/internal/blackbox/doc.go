// Package blackbox runs Gridhook as operators do. It starts, stops, pauses and kills real
// processes and real nats-servers. The promise tests and the chaos harness use it.
package blackbox
