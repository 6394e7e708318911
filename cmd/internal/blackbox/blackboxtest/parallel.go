package blackboxtest

import (
	"flag"
	"testing"
)

// parallel is the number of parallel tests of a package whose tests wait more than they
// compute. Go's default is the number of processors.
const parallel = "6"

// RunParallel runs the tests of a package, parallel of them at a time unless the command
// line says otherwise: Run parses it. It returns the exit code.
func RunParallel(m *testing.M) int {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err) // package testing defines the flag
	}
	return m.Run()
}
