package receiver

// recentAtLeast is the minimum number of stored identifiers. The maximum is twice as
// many.
const recentAtLeast = 100_000

// recent stores the latest identifiers in two generations: the current one and the
// previous one.
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
