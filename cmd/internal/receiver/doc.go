// Package receiver is a partner's side of a webhook: an HTTP handler that takes
// deliveries, verifies their signatures, keeps count, plays faults, and passes on;
// and a reader of requests that were captured. HMAC signatures are checked by the
// stock Standard Webhooks library, so that ours are held to somebody else's. The
// demonstration, `gridhook listen` and `gridhook verify` stand on it.
package receiver
