package client

// DefaultHTTP sends the requests of a client without its own HTTP client.
var DefaultHTTP = defaultHTTP
