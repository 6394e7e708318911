package app

import (
	"os"
	"runtime"
	"testing"
)

func TestShareProcessors(t *testing.T) {
	processors := runtime.NumCPU()
	for name, tt := range map[string]struct {
		variable     string // GOMAXPROCS, "" if it is not set
		before, want int
	}{
		"a machine of its own":         {"", processors, processors + moreThreads},
		"limited by the control group": {"", processors + 1, processors + 1},
		"set by the operator":          {"7", processors, processors},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOMAXPROCS", tt.variable)
			if tt.variable == "" {
				if err := os.Unsetenv("GOMAXPROCS"); err != nil {
					t.Fatal(err)
				}
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(tt.before))
			if ShareProcessors(); runtime.GOMAXPROCS(0) != tt.want {
				t.Errorf("%d goroutines may run, want %d", runtime.GOMAXPROCS(0), tt.want)
			}
		})
	}
}
