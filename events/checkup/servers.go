package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Server is the /varz description of one NATS server.
type Server struct {
	Name      string    `json:"server_name"`
	Version   string    `json:"version"`
	Now       time.Time `json:"now"`
	JetStream struct {
		Config *struct {
			// MaxStore is in bytes, SyncInterval in nanoseconds.
			MaxStore     int64         `json:"max_storage"`
			SyncInterval time.Duration `json:"sync_interval"`
			SyncAlways   bool          `json:"sync_always"`
		} `json:"config"`
		Stats *struct {
			Store uint64 `json:"storage"`
		} `json:"stats"`
	} `json:"jetstream"`
}

// servers reads the settings of each server from the monitoring addresses. Without
// addresses it asks over the connection, where only users of the system account get a
// response.
func (f *Facts) servers(ctx context.Context, nc *nats.Conn, monitors []string) {
	if len(monitors) == 0 {
		f.Silent = f.ping(nc)
		return
	}
	for _, address := range monitors {
		sentAt := time.Now()
		s, err := varz(ctx, address)
		if err != nil {
			f.Silent = errors.Join(f.Silent, fmt.Errorf("read the monitoring address %s: %w", address, err))
			continue
		}
		f.server(s, sentAt)
	}
}

func (f *Facts) server(s Server, sentAt time.Time) {
	f.Servers = append(f.Servers, s)
	f.clock(s.Name, s.Now, sentAt)
}

func varz(ctx context.Context, address string) (s Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/varz", nil)
	if err != nil {
		return s, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return s, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		return s, errors.New(response.Status)
	}
	const most = 4 << 20
	err = json.NewDecoder(io.LimitReader(response.Body, most)).Decode(&s)
	return s, err
}

// systemSubject reaches all servers at once. Each server responds.
const systemSubject = "$SYS.REQ.SERVER.PING.VARZ"

// lull is the silence that ends the wait for responses.
const lull = 500 * time.Millisecond

func (f *Facts) ping(nc *nats.Conn) error {
	inbox := nc.NewRespInbox()
	replies, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer replies.Unsubscribe() //nolint:errcheck // the connection is closed next
	sentAt := time.Now()
	if err := nc.PublishRequest(systemSubject, inbox, nil); err != nil {
		return err
	}
	for {
		m, err := replies.NextMsg(lull)
		if err != nil || m.Header.Get("Status") != "" { // no server listens there for this account
			break
		}
		var reply struct {
			Data Server `json:"data"`
		}
		if json.Unmarshal(m.Data, &reply) == nil && reply.Data.Name != "" {
			f.server(reply.Data, sentAt)
		}
	}
	return nil
}
