// Package receiver is a partner's side of a webhook: an HTTP handler that takes
// deliveries, verifies their signatures with the stock Standard Webhooks library,
// and keeps count. The demonstration and `gridhook listen` stand on it.
package receiver
