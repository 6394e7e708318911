// Package blackbox runs Gridhook as its operators do: real processes that are
// started, stopped, paused and killed, and real nats-servers. The tests of the
// promises and the chaos harness stand on it.
package blackbox
