// Package http1 is a lean HTTP/1.1 client for one thing: posting small bodies to
// the same places again and again. One goroutine sends a request with one write
// and reads its answer from the same connection, where net/http's Transport hands
// both to other goroutines; that saves about half of a request's processor time.
// Answers are parsed by net/http.
//
// It follows no redirects, uses no proxy, keeps no cookies and asks for no
// compression. Whoever makes a Client decides how connections are dialled, and so
// where they may go.
//
// It may import the standard library only.
package http1
