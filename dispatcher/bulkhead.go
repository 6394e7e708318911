package dispatcher

import "context"

// bulkhead bounds the requests that one endpoint may have in flight, so that a
// slow one can hold only its share of the worker.
type bulkhead struct{ places chan struct{} }

func newBulkhead(places int) *bulkhead { return &bulkhead{make(chan struct{}, places)} }

// enter waits for a place. It returns false when ctx ends first.
func (b *bulkhead) enter(ctx context.Context) bool {
	select {
	case b.places <- struct{}{}:
		return true
	default:
	}
	select {
	case b.places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (b *bulkhead) leave() { <-b.places }
