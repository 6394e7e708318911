//go:build !linux

package doctor

// inMemory knows file systems of Linux alone.
func inMemory(string) (kind string, is bool) { return "", false }
