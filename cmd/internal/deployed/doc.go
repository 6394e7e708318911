// Package deployed tests the files that operators apply, in the folder deploy. Each
// setting in the files must exist. The NATS cluster of the compose file must work.
// Kubernetes must accept the manifests of the Helm chart. Package observe tests the rules
// and the dashboard.
//
// It has tests only. .ci/deploy renders the chart, fetches the schemas and runs the
// tests.
package deployed
