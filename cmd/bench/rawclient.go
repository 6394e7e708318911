package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// rawClient sends requests over one connection, one after another, with as little overhead as
// possible. net/http's client passes each request between three goroutines and allocates
// 3 KB per request. On a machine shared with the server, that client would be half of the
// measurement.
type rawClient struct {
	conn net.Conn
	in   *bufio.Reader
	stop func() bool // stops the function that closes the connection when the context ends
}

func dialRaw(ctx context.Context, address string) (*rawClient, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &rawClient{conn, bufio.NewReaderSize(conn, 32<<10), context.AfterFunc(ctx, func() { _ = conn.Close() })}, nil
}

func (a *rawClient) close() {
	a.stop()
	_ = a.conn.Close()
}

// ask sends a request and reads its response. The response must have status 200 and a
// Content-Length.
func (a *rawClient) ask(request []byte) error {
	if _, err := a.conn.Write(request); err != nil {
		return err
	}
	status, err := a.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		return fmt.Errorf("a request got the response %s", bytes.TrimSpace(status))
	}
	length, err := a.header()
	if err != nil {
		return err
	}
	_, err = a.in.Discard(length)
	return err
}

// header reads a response's header and returns the length of the body in bytes.
func (a *rawClient) header() (length int, err error) {
	for length = -1; ; {
		line, err := a.in.ReadSlice('\n')
		switch {
		case err != nil:
			return 0, err
		case len(line) <= len("\r\n") && length < 0:
			return 0, errors.New("a response has no Content-Length")
		case len(line) <= len("\r\n"):
			return length, nil
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}
