package ledger

import (
	"errors"
	"testing"

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
