package receiver

// recentAtLeast is how many identifiers are known at least; twice as many at most.
const recentAtLeast = 100_000

// recent knows the latest identifiers: those of the generation that is being filled and
// of the one before it.
type recent struct{ young, old map[string]struct{} }

func (r *recent) has(id string) bool {
	_, young := r.young[id]
	_, old := r.old[id]
	return young || old
}

func (r *recent) add(id string) {
	if len(r.young) == recentAtLeast || r.young == nil {
		r.young, r.old = map[string]struct{}{}, r.young
	}
	r.young[id] = struct{}{}
}
