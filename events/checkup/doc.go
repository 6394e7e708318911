// Package checkup finds out how an external NATS is set up, as far as it tells:
// what it is asked with is the connection that Gridhook itself would have. It
// judges nothing, and changes nothing but a stream of its own, which it takes away
// again.
package checkup
