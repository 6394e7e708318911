// Package promise tests Gridhook's promises with its own binary. It starts, kills and
// restarts real processes on a real nats-server. Its receiver verifies deliveries with
// the stock Standard Webhooks library.
package promise
