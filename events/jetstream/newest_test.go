package jetstream

import (
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
)

// The triggers of an organization follow one another in the order of their log.
func TestNext(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	var sequences []uint64
	for _, org := range []string{"org", "other", "org"} {
		sequence, err := b.Accept(within(t), events.NewTrigger(org, pricing.Window{Start: noon, End: noon}, noon))
		must(t, err)
		sequences = append(sequences, sequence)
	}
	for after, want := range map[uint64]uint64{0: sequences[0], sequences[0]: sequences[2], sequences[1]: sequences[2], sequences[2]: 0} {
		got, err := b.Next(within(t), "org", after)
		if must(t, err); got.Sequence != want || (got.ID == "") != (want == 0) {
			t.Errorf("after %d comes %d, want %d", after, got.Sequence, want)
		}
	}
	if newest, err := b.Newest(within(t), "org"); err != nil || newest.Sequence != sequences[2] {
		t.Errorf("the newest is %d, %v", newest.Sequence, err)
	}
	if none, err := b.Newest(within(t), "nobody"); err != nil || none.ID != "" {
		t.Errorf("nobody has %+v, %v", none, err)
	}
}
