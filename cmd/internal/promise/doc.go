// Package promise holds the tests of what Gridhook promises, made through its
// own binary: real processes that are started, killed and started again, a real
// nats-server, and a receiver that verifies what arrives with the stock Standard
// Webhooks library.
package promise
