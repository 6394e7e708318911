package ledger

import (
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// FuzzCursor_Decode decodes any cursor. The cursor is refused with its error, or reads
// the same after encoding.
func FuzzCursor_Decode(f *testing.F) {
	for _, seed := range []string{"", "trg_1.0.0", "trg_1.12.63", "..", "trg_1.1", "trg_1.-1.0", "a b.1.1", "trg_1.99999999999.1", "trg_1.+1.1", "trg_1.1.1.1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		var wrong *storage.InvalidError
		switch {
		case err == nil && text != "":
			if again, err := parseCursor(c.String()); err != nil || again != c || !storage.ValidID(c.trigger) || c.slice < 0 {
				t.Errorf("%q is %v, which reads as %v, %v", text, c, again, err)
			}
		case err != nil && (!errors.As(err, &wrong) || wrong.Fields[0].Field != "after"):
			t.Errorf("error of %q is %v", text, err)
		}
	})
}

// A page that ends because it has visited many triggers continues at the next trigger.
func TestDeliveries_ManyTriggers(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for i := range 9 {
		accept(t, l, trigger("org", fmt.Sprint("trg_", i), 0, 1))
	}
	fold(t, l, slice(trigger("org", "trg_0", 0, 1), 0, true, delivery("h1", events.OutcomeFailed, 1)))
	q := events.DeliveryQuery{Outcomes: []events.Outcome{events.OutcomeFailed}, Limit: 10}
	r := reading{query: &q, wanted: setOf(q.Outcomes...), skipped: maxSkipped - 4}
	must(t, l.file.View(func(tx *bbolt.Tx) error {
		r.tx = tx
		if more, err := r.triggers("org", cursor{place: begin}); !more || err != nil {
			t.Errorf("the page reads all triggers, or %v", err)
		}
		return nil
	}))
	if got := r.last.String(); got != "trg_4.0.0" {
		t.Errorf("the next page begins at %s, want the fifth trigger", got)
	}
	q.After = r.last.String()
	if page, next, err := l.Deliveries("org", q); len(page) != 1 || next != "" || err != nil {
		t.Errorf("the next page has %d deliveries and continues at %q, %v", len(page), next, err)
	}
}
