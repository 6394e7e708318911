// Package http1 is a lean HTTP/1.1 server for one thing: small POSTs that are answered
// in one piece. Such a request is read, answered and written by the goroutine of its
// connection, where net/http starts a second one for each, which wakes another of the
// machine's threads, and makes everything of it anew; that saves more than half of a
// request's processor time.
//
// Whatever is not such a request goes to net/http with all of its connection, for good:
// other methods, bodies that are large, come in pieces or have no length, the end of a
// connection, and everything that is written in an unusual way or is wrong. So there is
// no second opinion about what a request means: net/http read the head of each that is
// answered here, that one or the same one before it.
//
// It may import the standard library only.
package http1
