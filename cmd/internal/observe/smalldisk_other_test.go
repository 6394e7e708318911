//go:build !linux

package observe

import "testing"

func smallDisk(t *testing.T, _ int) string {
	t.Helper()
	t.Skip("a small file system can be mounted on Linux alone")
	return ""
}
