// Package observe tests what operators are shown: that the rules and the dashboard
// under deploy speak of metrics that there are, that every query of the dashboard
// returns data from a real run, and that alerts fire on real faults and on nothing
// else, all in a real Prometheus.
//
// Prometheus is the binary that GRIDHOOK_PROMETHEUS names; without it the tests that
// need one are skipped. .ci/prometheus installs it and runs them all.
//
// It has tests only, and may import everything that a client may.
package observe
