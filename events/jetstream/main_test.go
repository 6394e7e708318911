package jetstream

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more tests at a time than there are processors, because these tests wait for
// the server more than they compute. A flag on the command line wins, because Run parses it.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // package testing defines the flag
	}
	os.Exit(m.Run())
}
