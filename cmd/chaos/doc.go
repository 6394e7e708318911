// Chaos tries to make Gridhook lose, repeat, mix up or leak deliveries.
//
//	go run ./cmd/chaos --seed 7 --cycles 25
//
// It starts Gridhook as real processes, in three topologies: everything in one process;
// an api and two workers on a nats-server; two apis and three workers on a cluster of
// three. It sends triggers, creates and deletes homes, and writes OpenADR events that
// subscriptions are notified of. Meanwhile it kills, pauses, cuts off and damages
// processes, as a printed seed determines. It keeps two append-only ledgers: the accepted
// triggers and events, and the received deliveries. At the end it heals everything, waits
// and compares the ledgers. If an invariant is broken, it exits with 1 and keeps the
// ledgers and the logs.
//
// The directed faults come first. They use a build of Gridhook with failpoints, which
// kills itself at named places, the first, second or last time that it reaches them. With
// --prove the harness tests itself: it runs Gridhook with planted bugs and must find each
// bug.
//
// Failpoints are comments of go.etcd.io/gofail in the source of the product. They have no
// effect there. The harness turns them into code in copies of the files. An active
// failpoint without code of its own kills the process. A failpoint whose name begins with
// bug is a planted bug.
package main
