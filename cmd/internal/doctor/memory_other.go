//go:build !linux

package doctor

// inMemory returns false: it supports only Linux.
func inMemory(string) (kind string, is bool) { return "", false }
