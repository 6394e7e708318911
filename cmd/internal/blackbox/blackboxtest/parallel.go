package blackboxtest

import (
	"flag"
	"testing"
)

// parallel is the number of parallel tests of a package whose tests wait more than they
// compute. Go's default is the number of processors.
const parallel = "6"

// RunParallel runs the tests of a package, parallel of them at a time unless the command
// line says otherwise. It returns the exit code.
func RunParallel(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err) // package testing defines the flag
		}
	}
	return m.Run()
}
