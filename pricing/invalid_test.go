package pricing_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/gridhook/gridhook/pricing"
)

// A list of wrong fields is bounded. Otherwise a request of 1 MiB with a wrong field in every
// other byte would take a processor for minutes.
func TestProblems_Bounded(t *testing.T) {
	var p pricing.Problems
	for i := range 10_000 {
		p.Addf("scopes["+strconv.Itoa(i)+"]", "is wrong")
	}
	wrong, ok := errors.AsType[*pricing.InvalidError](p.Err())
	if !ok || len(wrong.Fields) != 1000 || wrong.Fields[0].Field != "scopes[0]" {
		t.Errorf("the error has %d fields", len(p.List()))
	}
	const want = "scopes[0]: is wrong; scopes[1]: is wrong; scopes[2]: is wrong; scopes[3]: is wrong; scopes[4]: is wrong; and 995 more"
	if got := wrong.Error(); got != want {
		t.Errorf("the text has %d bytes: %.200s", len(got), got)
	}
}
