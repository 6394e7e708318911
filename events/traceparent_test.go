package events

import (
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func TestTraceparent_Valid(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct {
		name string
		in   Traceparent
		want Traceparent
	}{
		{"sampled", good, good},
		{"not sampled", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"},
		{"none", "", ""},
		{"a later version with the same beginning", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", good},
		{"no trace", "00-00000000000000000000000000000000-b7ad6b7169203331-01", ""},
		{"garbage", "gar\r\nbage", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := trace.SpanContextFromContext(tt.in.Under(t.Context()))
			if got := TraceparentOf(sc); got != tt.want {
				t.Errorf("traceparent %q reads as %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
