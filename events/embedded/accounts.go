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
	store    int64  // limit of JetStream's files in bytes, 0 if not known
	front    *front // nil without an MQTT listener
	password string
	log      *slog.Logger
	server   *server.Server

	// opening has a channel by organization while its account opens or is erased, which is
	// closed then. An account that opens slowly must not delay the clients of another
	// organization.
	opening sync.Map
	ready   sync.Map // *server.Account by the name of an open account
}

// accountPrefix is the prefix of the accounts' names.
const accountPrefix = "mqtt-"

// The server stores a persistent session at each connection, and would keep it for ever. So
// the stream gets its bounds before the server makes it: a session is forgotten forgetAfter
// the last connection, and an organization with too many gets no new one.
const (
	sessionStream  = "$MQTT_sess"
	retainedStream = "$MQTT_rmsgs"
	messageStream  = "$MQTT_msgs"
	maxSessions    = 4096
	maxSessionSize = 64 << 10
)

// serverConsumers are the consumers in an account that are nats-server's own.
const serverConsumers = 8

// limits returns the limits of an account. Each subscription with QoS 1 is a consumer, and takes
// some 42 KB of memory. A size would be reserved for every account.
func (a *accounts) limits() map[string]server.JetStreamAccountLimits {
	return map[string]server.JetStreamAccountLimits{"": {
		MaxMemory: -1, MaxStore: -1, MaxStreams: -1, MaxConsumers: a.front.maxClients() + serverConsumers,
		MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1,
	}}
}

// erasedMark is the file in an account's folder that says that its organization was erased. The
// name of the folder holds the organization's identifier, and the server uses the folder until
// it stops.
const erasedMark = "erased"

// accountTimeout limits the setup of an account.
const accountTimeout = 10 * time.Second

// lock locks an organization's account and returns the function that unlocks it.
func (a *accounts) lock(org string) (unlock func()) {
	done := make(chan struct{})
	for {
		before, locked := a.opening.LoadOrStore(org, done)
		if !locked {
			return func() { a.opening.Delete(org); close(done) }
		}
		<-before.(chan struct{})
	}
}

// open returns an organization's account. A new account has no messages.
func (a *accounts) open(org string) (*server.Account, error) {
	defer a.lock(org)()
	if account, ok := a.ready.Load(accountPrefix + org); ok {
		return account.(*server.Account), nil
	}
	if err := os.Remove(filepath.Join(a.folder(org), erasedMark)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	account, _ := a.server.LookupOrRegisterAccount(accountPrefix + org)
	if err := account.EnableJetStream(a.limits(), nil); err != nil {
		return nil, fmt.Errorf("open the account of %s: %w", org, err)
	}
	err := a.use(org, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: sessionStream, Subjects: []string{"$MQTT.sess.>"},
			MaxMsgsPerSubject: 1, MaxMsgs: a.sessions(), MaxMsgSize: maxSessionSize, MaxAge: forgetAfter, Discard: jetstream.DiscardNew,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create the stream of MQTT sessions of %s: %w", org, err)
	}
	a.ready.Store(account.Name, account)
	return account, nil
}

// folder returns the folder of an organization's account.
func (a *accounts) folder(org string) string {
	return filepath.Join(a.dir, server.JetStreamStoreDir, accountPrefix+org)
}

// folders returns the folders of all accounts.
func (a *accounts) folders() ([]string, error) { return filepath.Glob(a.folder("*")) }

// closed reports whether a health error is about an account that is not open. The server
// cannot resolve such an account, and reports its folder as an error.
func (a *accounts) closed(e server.HealthzError) bool {
	_, open := a.ready.Load(e.Account)
	return strings.HasPrefix(e.Account, accountPrefix) && !open
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
// clients. The empty streams stay on the disk, because the server does not make them again before
// it restarts: they are opened again if the organization is created again. Otherwise the next start
// removes the folder.
func (a *accounts) erase(org string) error {
	folder := a.folder(org)
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if a.front == nil {
		return os.RemoveAll(folder)
	}
	account, err := a.open(org)
	if err != nil {
		return err
	}
	clients, err := a.connections(account)
	if err != nil {
		return err
	}
	for _, c := range clients {
		a.disconnect(c)
	}
	a.front.changes.Delete(org)
	err = a.use(org, func(ctx context.Context, js jetstream.JetStream) error {
		list := js.ListStreams(ctx)
		for info := range list.Info() {
			s, err := js.Stream(ctx, info.Config.Name)
			if err != nil {
				return err
			}
			consumers := s.ConsumerNames(ctx)
			for name := range consumers.Name() {
				if info.Config.Name == retainedStream { // the server itself reads it, and does not make the consumer again
					continue
				}
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
	if err != nil {
		return err
	}
	defer a.lock(org)()
	a.ready.Delete(account.Name)
	if err := account.DisableJetStream(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, erasedMark), nil, 0o600)
}

// removeErased removes the folders of erased organizations. The server must be stopped.
func (a *accounts) removeErased() error {
	folders, err := a.folders()
	for _, folder := range folders {
		if _, missing := os.Stat(filepath.Join(folder, erasedMark)); missing == nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}
	return err
}

// copyTo copies the accounts' files to the files of another server. Neither server may have
// the accounts open.
func (a *accounts) copyTo(dir string) error {
	folders, err := a.folders()
	for _, folder := range folders {
		to := filepath.Join(dir, server.JetStreamStoreDir, filepath.Base(folder))
		err = errors.Join(err, os.CopyFS(to, os.DirFS(folder)))
	}
	return err
}
