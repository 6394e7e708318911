package embedded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events/periodic"
)

// Shares of the store that an organization's sessions and messages may take, as divisors. They
// leave room for the triggers of the others.
const (
	sessionsShare = 64
	messagesShare = 32
)

// sessions returns how many sessions an organization may have.
func (a *accounts) sessions() int64 {
	if a.store == 0 {
		return maxSessions
	}
	return min(max(a.store/sessionsShare/maxSessionSize, 1), maxSessions)
}

// maxUnread is the maximum size in bytes of the messages in memory that an organization's
// clients have not read yet. checkInterval is the time between checks of the clients. A client
// gets messages at its subscription too, without a publication. Every keyChecks-th check looks
// at their keys too: that may read each key from the store.
const (
	maxUnread     = 64 << 20
	checkInterval = 250 * time.Millisecond
	keyChecks     = 4
)

// limitClients disconnects the clients that dropClients drops, of every organization, until the
// front stops.
func (s *Server) limitClients() {
	n := 0
	_ = periodic.Run(s.front.stopping, checkInterval, s.options.Log, "check MQTT clients", func(context.Context) (err error) {
		n++
		a := s.organizations()
		a.ready.Range(func(_, account any) bool {
			err = errors.Join(err, a.dropClients(account.(*server.Account), n%keyChecks == 0))
			return true
		})
		return err
	}) // always nil
}

// dropClients disconnects the clients of an account that have more than maxSubscriptions and, if
// keys is set, those that are no longer live. It then disconnects the clients with the most unread
// messages, until the others have at most maxUnread.
func (a *accounts) dropClients(account *server.Account, keys bool) error {
	if account.NumLocalConnections() == 0 {
		return nil
	}
	clients, err := a.connections(account)
	if err != nil {
		return err
	}
	clients = slices.DeleteFunc(clients, func(c *server.ConnInfo) bool {
		user, _, _ := strings.Cut(c.AuthorizedUser, "/")
		return user == processUser
	})
	org := strings.TrimPrefix(account.Name, accountPrefix)
	unread, dropped := 0, 0
	for _, c := range clients {
		unread += c.Pending
		if keys && a.front.Live != nil && !a.front.Live(c.AuthorizedUser) {
			a.log.Info("MQTT client disconnected, its key is not valid any more", "org", org, "client", c.AuthorizedUser)
			a.disconnect(c)
		}
		if c.NumSubs > maxSubscriptions {
			a.log.Warn("MQTT client disconnected, it has too many subscriptions", "org", org, "subscriptions", c.NumSubs, "limit", maxSubscriptions)
			a.disconnect(c)
		}
	}
	for ; unread > maxUnread; dropped++ {
		unread -= clients[dropped].Pending
		a.disconnect(clients[dropped])
	}
	if dropped > 0 {
		a.log.Warn("MQTT clients disconnected, they do not read their messages", "org", org, "clients", dropped, "limit", maxUnread)
	}
	return nil
}

// connections returns the connections of an account, those with the most unread bytes first.
func (a *accounts) connections(account *server.Account) (server.ConnInfos, error) {
	list, err := a.server.Connz(&server.ConnzOptions{
		Account: account.Name, Username: true, Sort: server.ByPending, Limit: server.DEFAULT_MAX_CONNECTIONS,
	})
	if err != nil {
		return nil, err
	}
	return list.Conns, nil
}

// disconnect ends a connection of an account.
func (a *accounts) disconnect(c *server.ConnInfo) {
	_ = a.server.DisconnectClientByID(c.Cid) // an error says that it is not connected
	a.front.end(c.Port)
}

// makeRoom deletes the older half of an organization's messages for absent clients if its
// messages take their share of the store, and half of that. It reports whether there is room then.
func (a *accounts) makeRoom(org string) (room bool, err error) {
	account, err := a.open(org)
	if err != nil {
		return false, err
	}
	if err := a.dropClients(account, false); err != nil {
		return false, err
	}
	share := uint64(a.store) / messagesShare //nolint:gosec // positive
	full := func() bool { return share > 0 && account.JetStreamUsage().Store >= share }
	if !full() {
		return true, nil
	}
	err = a.use(org, func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, messageStream)
		if err != nil {
			return err
		}
		if s.CachedInfo().State.Bytes < share/2 {
			return nil
		}
		a.log.Warn("MQTT messages for absent clients take their share of the store, deleting the older half", "org", org, "messages", s.CachedInfo().State.Msgs)
		return s.Purge(ctx, jetstream.WithPurgeKeep(s.CachedInfo().State.Msgs/2+1)) // 0 would keep none
	})
	return !full(), err
}
