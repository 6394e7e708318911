// Package deployed tests what operators apply, in the folder deploy: that what its
// files set is a setting, that the NATS cluster of the compose file works, and that
// the manifests of the Helm chart are what Kubernetes takes. Package observe tests
// the rules and the dashboard.
//
// It has tests only. .ci/deploy renders the chart, fetches the schemas and runs them.
package deployed
