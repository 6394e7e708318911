package rest

import (
	"net/http"
	"slices"
	"time"
)

// A client must read pieceSize bytes of a response within readStall.
const (
	pieceSize = 64 << 10
	readStall = 5 * time.Second
)

// send writes a response in pieces, even if the server's WriteTimeout is over. A client that
// reads a piece too slowly is disconnected, which frees the memory of the response.
func send(w http.ResponseWriter, body []byte) {
	to := SteadyWriter{w, readStall}
	for piece := range slices.Chunk(body, pieceSize) {
		if _, err := to.Write(piece); err != nil {
			return // the caller is gone
		}
	}
}

// SteadyWriter writes a response. It disconnects a client that does not read what one Write
// wrote within Stall.
type SteadyWriter struct {
	http.ResponseWriter
	Stall time.Duration
}

// Write writes to the client.
func (w SteadyWriter) Write(p []byte) (int, error) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.Stall)) // a test's recorder has no deadlines
	return w.ResponseWriter.Write(p)
}
