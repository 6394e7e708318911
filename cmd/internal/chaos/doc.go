// Chaos tries to make Gridhook lose, repeat, mix up or leak something.
//
//	go run ./cmd/internal/chaos --seed 7 --cycles 25
//
// It starts Gridhook as real processes (everything in one; an api and two workers
// on a nats-server; two apis and three workers on a cluster of three), asks for
// triggers, creates and deletes homes, and meanwhile kills, pauses, cuts off and
// damages what it can, as a printed seed says. It keeps two append-only ledgers:
// what was accepted and what the receivers got. At the end it heals everything,
// waits, compares the two, and exits with 1 where an invariant is broken, keeping
// the ledgers and the logs.
//
// Before that come the directed faults: a build of Gridhook that kills itself at
// named places, the first, second or last time that it comes by. And it proves
// itself: with --prove it builds Gridhook with bugs, each of which it must find.
package main
