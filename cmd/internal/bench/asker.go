package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// asker makes the requests of an order over one connection, one after another, and
// does no more than that takes: net/http's client has three goroutines hand each
// request on to one another, which on a machine that the server shares is half of
// what is measured.
type asker struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	stop func() bool // ends what cuts the connection off with the context

	site, host string // the beginning of the addresses, and what it names
}

func dialAsker(ctx context.Context, o *order) (*asker, error) {
	at, err := url.Parse(o.url(0))
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return nil, err
	}
	return &asker{
		conn: conn, in: bufio.NewReaderSize(conn, 32<<10), stop: context.AfterFunc(ctx, func() { _ = conn.Close() }),
		site: at.Scheme + "://" + at.Host, host: at.Host,
	}, nil
}

func (a *asker) close() {
	a.stop()
	_ = a.conn.Close()
}

// ask makes a request and reads its answer, which must be 200.
func (a *asker) ask(o *order, i int) error {
	body := o.body(i)
	a.out = fmt.Appendf(a.out[:0], "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nX-Ws-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(o.url(i), a.site), a.host, o.Key, len(body), body)
	if _, err := a.conn.Write(a.out); err != nil {
		return err
	}
	response, err := http.ReadResponse(a.in, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	if _, err = io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s was answered %s", o.url(i), response.Status)
	}
	return nil
}
