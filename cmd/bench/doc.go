// Bench measures Gridhook against the ceiling of the same machine in one run. The ceiling
// is the rate of a bare client in its own process against the same receiver. The ratios
// refer to that ceiling.
//
//	go run ./cmd/bench                  # every suite
//	go run ./cmd/bench --quick          # a first impression
//	go run ./cmd/bench delivery --json  # one suite, for programs
//	go run ./cmd/bench publish URL BODY # another server, side by side
//
// Suites that inspect one process run the service in this process. Suites that kill,
// restart or add processes first build gridhook and nats-server from this tree.
package main
