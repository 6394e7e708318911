// Package send sends the bytes of a webhook to its destination: one POST per attempt,
// over connections that the destination guard allows. It limits the time and the size of
// the response.
//
// sender.go makes an attempt, attempt.go describes its result, guard.go decides where
// webhooks may go, and tokens.go gets OAuth 2.0 access tokens.
//
// send may import events and storage. It does not depend on triggers, homes or signals.
package send
