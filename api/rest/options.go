package rest

import "time"

// Options has the limits of a request.
type Options struct {
	// MaxBody is the maximum size of a JSON body in bytes, and of an import's line.
	// MaxImportBody is the maximum size of an import.
	MaxBody, MaxImportBody int64
	// MaxXMLBody is the maximum size of an XML body in bytes. Operations read XML in pieces.
	MaxXMLBody int64
	// MaxDepth is the maximum nesting depth of JSON.
	MaxDepth int
	// Rate, a second, and Burst limit the requests of a key.
	Rate  float64
	Burst int
	// FeedbackRate, a second, and FeedbackBurst limit the feedback of a client address.
	FeedbackRate  float64
	FeedbackBurst int
	// MaxIdempotencyKeys is the share of an organization in the store of idempotency keys,
	// in new keys a day. A client without an API key has a hundredth.
	MaxIdempotencyKeys int
	// Timeout is the timeout of an operation. It must be shorter than the server's write
	// timeout, so that every request gets a response.
	Timeout time.Duration
	// MaxUnread is the maximum size of all request bodies of a listener and of the responses
	// that clients have not read yet, in bytes. An organization may use a quarter.
	MaxUnread int64
	// MaxConnections is the maximum number of connections of a ConnectionLimit. A client
	// address may have a quarter, a trusted proxy all.
	MaxConnections int
	// Origins has the web origins whose pages may call the partners' operations from
	// browsers.
	Origins []string
	// Proxies configures the proxies that report the addresses of clients. The zero value
	// trusts no proxy.
	Proxies Proxies
}
