package blackbox

import (
	"net"
	"strconv"
	"testing"
)

// TestFreeAddress_Unique checks that each address is returned once, is free, and is
// outside the system's range for connections.
func TestFreeAddress_Unique(t *testing.T) {
	seen := map[string]bool{}
	for range 500 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(address)
		if n, _ := strconv.Atoi(port); err != nil || n < lowestPort || n >= highestPort || seen[address] {
			t.Fatalf("%s, %v, or it was returned before", address, err)
		}
		seen[address] = true
	}
	for address := range seen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close() // nothing was written
		break
	}
}
