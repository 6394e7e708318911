//go:build !unix

package httpclient

import "errors"

const canReadNonblocking = false

func readNonblocking(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
