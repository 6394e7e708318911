// Package webhook makes the bytes of a webhook: the JSON of a message or of a batch, its
// compression, and its signature.
//
// message.go writes the body of one message. batch.go writes the body of a batch and
// reads the receiver's results for its messages. gzip.go compresses. sign.go signs by the
// Standard Webhooks specification. payload.go combines them.
//
// webhook may import events and storage. It does no I/O.
package webhook
