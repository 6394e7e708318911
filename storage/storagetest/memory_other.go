//go:build !linux

package storagetest

// memoryFolder returns "": this system has no file system in memory by default.
func memoryFolder() string { return "" }
