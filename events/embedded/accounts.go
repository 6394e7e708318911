package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// accounts are the NATS accounts of the organizations with MQTT clients. An account has its
// own client identifiers, sessions, waiting messages and retained messages.
type accounts struct {
	dir      string // of JetStream's files
	listens  bool   // whether there is an MQTT listener
	password string
	log      *slog.Logger
	server   *server.Server

	mu    sync.Mutex
	ready map[string]*server.Account // by organization
}

// accountPrefix is the prefix of the accounts' names.
const accountPrefix = "mqtt-"

// The server stores a persistent session at each connection, and would keep it for ever. So
// the stream gets its bounds before the server makes it: a session is forgotten forgetAfter
// the last connection, and an organization with too many gets no new one.
const (
	sessionStream  = "$MQTT_sess"
	maxSessions    = 4096
	maxSessionSize = 64 << 10
)

// accountTimeout limits the setup of an account.
const accountTimeout = 10 * time.Second

// open returns an organization's account. A new account has no messages.
func (a *accounts) open(org string) (*server.Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if account := a.ready[org]; account != nil {
		return account, nil
	}
	account, _ := a.server.LookupOrRegisterAccount(accountPrefix + org)
	if err := account.EnableJetStream(nil, nil); err != nil {
		return nil, fmt.Errorf("open the account of %s: %w", org, err)
	}
	err := a.use(org, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: sessionStream, Subjects: []string{"$MQTT.sess.>"},
			MaxMsgsPerSubject: 1, MaxMsgs: maxSessions, MaxMsgSize: maxSessionSize, MaxAge: forgetAfter, Discard: jetstream.DiscardNew,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create the stream of MQTT sessions of %s: %w", org, err)
	}
	a.ready[org] = account
	return account, nil
}

// join connects this process's own client to an account that is open or about to be.
func (a *accounts) join(c server.ClientAuthentication, org string) bool {
	account, err := a.server.LookupAccount(accountPrefix + org)
	if err == nil {
		c.RegisterUser(&server.User{Username: processUser, Account: account})
	}
	return err == nil
}

// credentials is Credentials.
func (a *accounts) credentials(org string) (user, password string) {
	if org == "" {
		return processUser, a.password
	}
	return processUser + "/" + org, a.password
}

// use gives do a connection to an account; see credentials.
func (a *accounts) use(org string, do func(context.Context, jetstream.JetStream) error) error {
	conn, err := nats.Connect("", nats.InProcessServer(a.server), nats.UserInfo(a.credentials(org)), nats.NoReconnect())
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), accountTimeout)
	defer cancel()
	return do(ctx, js)
}

// erase deletes an organization's sessions, subscriptions and messages, and disconnects its
// clients. The streams stay, because the server does not make them again before it restarts.
func (a *accounts) erase(org string) error {
	folder := filepath.Join(a.dir, server.JetStreamStoreDir, accountPrefix+org)
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if !a.listens {
		return os.RemoveAll(folder)
	}
	account, err := a.open(org)
	if err != nil {
		return err
	}
	clients, err := a.server.Connz(&server.ConnzOptions{Account: account.Name, Limit: maxClients + 1})
	if err != nil {
		return err
	}
	for _, c := range clients.Conns {
		_ = a.server.DisconnectClientByID(c.Cid) // an error says that it is not connected
	}
	return a.use(org, func(ctx context.Context, js jetstream.JetStream) error {
		list := js.ListStreams(ctx)
		for info := range list.Info() {
			s, err := js.Stream(ctx, info.Config.Name)
			if err != nil {
				return err
			}
			consumers := s.ConsumerNames(ctx)
			for name := range consumers.Name() {
				if err := s.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
					return err
				}
			}
			if err := errors.Join(consumers.Err(), s.Purge(ctx)); err != nil {
				return err
			}
		}
		return list.Err()
	})
}

// dropShared deletes the MQTT streams of earlier versions, which organizations shared.
func (a *accounts) dropShared() error {
	return a.use("", func(ctx context.Context, js jetstream.JetStream) error {
		names := js.StreamNames(ctx)
		for name := range names.Name() {
			if !strings.HasPrefix(name, "$MQTT_") {
				continue
			}
			if err := js.DeleteStream(ctx, name); err != nil {
				return err
			}
		}
		return names.Err()
	})
}

// copyTo copies the accounts' files to the files of another server. Neither server may have
// the accounts open.
func (a *accounts) copyTo(dir string) error {
	from := filepath.Join(a.dir, server.JetStreamStoreDir)
	folders, err := filepath.Glob(filepath.Join(from, accountPrefix+"*"))
	for _, folder := range folders {
		to := filepath.Join(dir, server.JetStreamStoreDir, filepath.Base(folder))
		err = errors.Join(err, os.CopyFS(to, os.DirFS(folder)))
	}
	return err
}
