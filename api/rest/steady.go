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

// send writes a response in pieces. A client that reads a piece too slowly is
// disconnected, which frees the memory of the response.
func send(w http.ResponseWriter, body []byte, stall time.Duration) {
	to := SteadyWriter{w, stall}
	for piece := range slices.Chunk(body, pieceSize) {
		if _, err := to.Write(piece); err != nil {
			return // the caller is gone
		}
	}
}

// SteadyWriter writes a response. It disconnects a client that does not read what one Write
// wrote within Stall. 0 is no limit.
type SteadyWriter struct {
	http.ResponseWriter
	Stall time.Duration
}

// Write writes to the client.
func (w SteadyWriter) Write(p []byte) (int, error) {
	if w.Stall > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.Stall)) // a test's recorder has no deadlines
	}
	return w.ResponseWriter.Write(p)
}
