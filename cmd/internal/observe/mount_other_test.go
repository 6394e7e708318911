//go:build !linux

package observe

import (
	"errors"
	"testing"
)

func mount(*testing.T, string, int) error {
	return errors.New("a file system can be mounted on Linux alone")
}
