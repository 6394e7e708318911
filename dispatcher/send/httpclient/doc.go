// Package httpclient repeatedly posts small requests to the same destinations, over
// HTTP/1.1 or HTTP/2.
//
// Over HTTP/1.1 one goroutine writes a request and reads its response from the same
// connection. net/http's Transport uses other goroutines for both, which costs about
// twice the processor time. Over HTTP/2 the package spreads requests over a few
// connections of net/http. Responses are parsed by net/http in both cases.
//
// Organizations never share a connection. An idle HTTP/1.1 connection is reused only if
// it holds no unread data. See check.go.
//
// The client follows no redirects, uses no proxy, keeps no cookies and requests no
// compression. The caller provides the dial function, and so decides where connections
// may go.
//
// It may import the standard library only.
package httpclient
