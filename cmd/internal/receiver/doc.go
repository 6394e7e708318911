// Package receiver is a partner's side of a webhook. Its HTTP handler receives
// deliveries, verifies signatures, counts, simulates faults, and forwards deliveries. The
// package also reads captured requests. It verifies HMAC signatures with the stock
// Standard Webhooks library, an independent check of Gridhook's signatures. The
// demonstration, `gridhook listen` and `gridhook verify` use it.
package receiver
