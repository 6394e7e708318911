package rest

import (
	"context"
	"maps"
	"net/http"
	"time"
)

// Stream is a response of JSON lines that come over time. It is called once, after the
// head of the response, with a context that ends when the client disconnects or the
// process stops. The response ends when it returns.
type Stream func(ctx context.Context, write func(line []byte) error)

// linesType is the media type of JSON lines.
const linesType = "application/x-ndjson"

// writeStreamHead writes the head of a stream's response.
func writeStreamHead(w http.ResponseWriter, requestID string) {
	h := w.Header()
	maps.Copy(h, responseHeader)
	h.Set("Content-Type", linesType)
	h.Set("X-Accel-Buffering", "no") // a proxy passes each line on at once
	h.Set("X-Request-Id", requestID)
	w.WriteHeader(http.StatusOK)
}

// stream writes the lines of a stream, each at once. A client that reads a line too slowly
// is disconnected.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, lines Stream) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // of the request, which is read: it would end the context
	to := SteadyWriter{w, readStall}
	lines(r.Context(), func(line []byte) error {
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
		return control.Flush()
	})
}
