// Package observe tests the rules and the dashboard under deploy in a real Prometheus.
// Their metrics must exist. Every query of the dashboard must return data from a real
// run. Alerts must fire on real faults only.
//
// GRIDHOOK_PROMETHEUS names the Prometheus binary. Without it, the tests that need
// Prometheus skip. .ci/prometheus installs Prometheus and runs all tests.
//
// It has tests only, and may import everything that a client may.
package observe
