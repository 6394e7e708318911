package rest

import (
	"cmp"
	"time"
)

// Options has the limits of a request. A zero field has its default.
type Options struct {
	// MaxBody is the maximum size of a JSON body in bytes, by default 1 MiB. It is also
	// the maximum length of an import's line.
	MaxBody int64
	// MaxImportBody is the maximum size of an import in bytes, by default 16 MiB.
	MaxImportBody int64
	// MaxXMLBody is the maximum size of an XML body in bytes, by default 64 MiB. A year of
	// quarter hours of Green Button takes 8 to 25 MB. Operations read XML in pieces.
	MaxXMLBody int64
	// MaxDepth is the maximum nesting depth of JSON, by default 32.
	MaxDepth int
	// Rate and Burst limit the requests of a key. The defaults are 100 a second and a
	// burst of 200.
	Rate  float64
	Burst int
	// FeedbackRate and FeedbackBurst limit the feedback of a client address. The defaults
	// are one submission every five seconds and a burst of 10.
	FeedbackRate  float64
	FeedbackBurst int
	// MaxIdempotencyKeys is the share of an organization in the store of idempotency keys,
	// in new keys a day. The default is 10,000. A client without an API key has a
	// hundredth.
	MaxIdempotencyKeys int
	// Timeout is the timeout of an operation, by default 25 s. It must be shorter than
	// the server's write timeout, so that every request gets a response.
	Timeout time.Duration
	// MaxUnread is the maximum size of all responses that clients have not read yet, in
	// bytes. The default is 64 MiB. An organization may use a quarter.
	MaxUnread int64
	// Origins has the web origins whose pages may call the partners' operations from
	// browsers. The default is none.
	Origins []string
	// Proxies configures the proxies that report the addresses of clients. By default, no
	// proxy is trusted.
	Proxies Proxies
}

// withDefaults returns the options with a default for each zero field.
func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxImportBody = cmp.Or(o.MaxImportBody, 16<<20)
	o.MaxXMLBody = cmp.Or(o.MaxXMLBody, 64<<20)
	o.MaxDepth = cmp.Or(o.MaxDepth, 32)
	o.Rate = cmp.Or(o.Rate, 100)
	o.Burst = cmp.Or(o.Burst, 200)
	o.FeedbackRate = cmp.Or(o.FeedbackRate, 0.2)
	o.FeedbackBurst = cmp.Or(o.FeedbackBurst, 10)
	o.MaxIdempotencyKeys = cmp.Or(o.MaxIdempotencyKeys, 10_000)
	o.MaxUnread = cmp.Or(o.MaxUnread, 64<<20)
	o.Timeout = cmp.Or(o.Timeout, 25*time.Second)
	return o
}
